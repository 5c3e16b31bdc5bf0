package lexical

import (
	"slices"
	"testing"
)

func TestDemands(t *testing.T) {
	x := build(t, []uint32{0, 1, 2, 3}, []Fields{
		{Title: "Queues", Page: "Queues", Body: "Jobs run in a queue. A job is a unit of work. Jobs have a license."},
		{Title: "Jobs", Page: "Jobs", Body: "Submit a job. Jobs wait for other jobs. Compare the job with other jobs."},
		{Title: "Stores", Page: "Stores", Body: "Widgets store jobs in redis. Redis must run. The redis server."},
		{Title: "Widgets", Page: "Widgets", Body: "Fold widgets and paint them."},
	})
	for _, tt := range []struct {
		query    string
		version  string
		topic    Topic
		software []string
		missing  []string
	}{
		{query: "widget fold paint"},
		{query: "widget 4.0 fold", version: "4.0"},
		{query: "widget 3.1 fold"},
		{query: "from widget 2.0 to 3.1"},
		{query: "widget vs crank fold", topic: Comparison, missing: []string{"crank"}},
		{query: "fold vs paint widget queue", missing: nil},
		{query: "fold compared to blue widget", topic: Comparison},
		{query: "better than widget", topic: Comparison},
		{query: "alternatives with mongodb", topic: Comparison, software: []string{"mongodb"}, missing: []string{"mongodb"}},
		{query: "best widget paint library 2026", topic: Advice},
		{query: "best way to fold a widget"},
		{query: "widget pricing", topic: Price, missing: nil},
		{query: "widget job queue"}, // jobs are the subject here
		{query: "widget CVE-2024-12345", topic: Vulnerability},
		{query: "widget release date", topic: News},
		{query: "latest stable widget version", topic: News},
		{query: "current widget release", topic: News},
		{query: "install the latest version of widget"},
		{query: "widget show the current version"},
		{query: "widget Preise", topic: Price},
		{query: "prix du widget", topic: Price},
		{query: "widget precious metal"},
		{query: "widget 価格表", topic: Price},
		{query: "Widget Vergleich", topic: Comparison},
		{query: "сравнение widget и mongodb", topic: Comparison, software: []string{"mongodb"}},
		{query: "widget zwei Dateien vergleichen"},
		{query: "última versión de widget", topic: News},
		{query: "instalar la última versión de widget"},
		{query: "widget 最新版", topic: News},
		{query: "widget 취약점", topic: Vulnerability},
		{query: "widget redis store"}, // redis is a subject
		{query: "widget kubernetes fold", software: []string{"kubernetes"}},
		{query: "widget /opt/widget-9/fold"}, // a path
		{query: "widget zzqqxx fold", missing: []string{"zzqqxx"}},
	} {
		_, s, err := x.Search(Query{Text: tt.query, Names: []string{"widget", "blue widget"}, Version: "3.1.4-2", Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		d := s.Demands
		if d.Version != tt.version || d.Topic != tt.topic || !slices.Equal(d.Software, tt.software) {
			t.Errorf("%s: version %q, topic %q, software %q, want %q, %q, %q", tt.query, d.Version, d.Topic, d.Software, tt.version, tt.topic, tt.software)
		}
		for _, word := range tt.missing {
			if !slices.Contains(d.Missing, word) {
				t.Errorf("%s: missing %q, want %q among them", tt.query, d.Missing, word)
			}
		}
	}
}
