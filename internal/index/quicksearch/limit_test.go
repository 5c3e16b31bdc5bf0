package quicksearch

import (
	"testing"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		query, language string
		partial         generation.Partial
		want            string
	}{
		{"descale the kettle", "English", "", ""},
		{"descale the kettle", "", "", ""}, // built before languages were detected
		{"den Kessel entkalken", "German", "", "documentation in German"},
		{"descale the kettle", "English", generation.OnlyReadme, "only a short README"},
		{"descale the kettle", "English", generation.OnlyChanges, "only change logs"},
		{"what changed in kettle 2.1", "English", generation.OnlyChanges, ""},
		{"wie kann ich den Kessel entkalken", "English", "", "query in another language"},
		{`"der Kessel ist nicht mit Wasser gefüllt" kettle`, "English", "", ""}, // a message
	} {
		a := Answer{Confident: true}
		a.limit(&Query{Text: tt.query}, &Properties{Language: tt.language, Partial: tt.partial}, &lexical.Demands{}, &Hit{})
		if a.AdviceOnly != tt.want || a.Confident != (tt.want == "") {
			t.Errorf("%q, %s, %q: advice %q, confident %t, want %q", tt.query, tt.language, tt.partial, a.AdviceOnly, a.Confident, tt.want)
		}
		a = Answer{}
		a.limit(&Query{Text: tt.query}, &Properties{Language: tt.language, Partial: tt.partial}, &lexical.Demands{}, &Hit{})
		if a.AdviceOnly != "" || a.Confident {
			t.Errorf("%q: an answer that is not confident is %+v", tt.query, a)
		}
	}
}

func TestLimitKind(t *testing.T) {
	notes := func(path, title string, headings ...string) *Hit {
		h := &Hit{Passage: passage.Passage{Path: path, Title: title, Headings: headings}}
		h.SetKind(passage.ReleaseNotes)
		return h
	}
	readme := &Hit{Passage: passage.Passage{Path: "README.md", Title: "Kettle"}}
	readme.SetKind(passage.Readme)
	for _, tt := range []struct {
		query string
		best  *Hit
		want  string
	}{
		{"how to descale the kettle", notes("changes.html", "Changes", "Version 2.1"), passage.ReleaseNotes},
		{"how to descale the kettle", notes("whatsnew/2.1.html", "What's new"), passage.ReleaseNotes},
		{"when was descale added", notes("changes.html", "Changes", "Version 2.1"), ""},
		{"kettle 2.1 descale", notes("changes.html", "Changes", "Version 2.1"), ""},
		{"how to release a kettle", notes("guide/release.md", "Releases"), ""},
		{"how to descale the kettle", &Hit{Passage: passage.Passage{Title: "Kettle 2.1"}}, ""},
		{"how to descale the kettle", readme, passage.Readme},
		{"what changed in kettle 2.1", readme, passage.Readme},
	} {
		a := Answer{Confident: true}
		a.limit(&Query{Text: tt.query}, &Properties{Language: lexical.English}, &lexical.Demands{}, tt.best)
		if a.AdviceOnly != tt.want || a.Confident != (tt.want == "") {
			t.Errorf("%q, %s: advice %q, confident %t, want %q", tt.query, tt.best.Path, a.AdviceOnly, a.Confident, tt.want)
		}
	}
}
