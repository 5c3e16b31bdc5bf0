package lexical

import "testing"

func TestNamedVersion(t *testing.T) {
	for query, want := range map[string]string{
		"react 18 hooks":             "18",
		"React v18.2 hooks":          "18.2",
		"hooks in react@18.2.0":      "18.2.0",
		"react18 hooks":              "18",
		"react version 19 hooks":     "19",
		"18.2 react hooks":           "18.2",
		"react hooks":                "",
		"react top 18 mistakes":      "",
		"react 2024 roadmap":         "",
		"vue 3 and react":            "",
		"node 20 with the framework": "",
	} {
		if got := NamedVersion(query, []string{"react", "reactjs"}); got != want {
			t.Errorf("NamedVersion(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestRelationToUsed(t *testing.T) {
	for _, tt := range []struct {
		used string
		own  []int
		want versionRelation
	}{
		{"19.1.0", []int{18, 3}, newerMajor}, {"17.0.2", []int{18}, olderMajor}, {"18.2.0", []int{18, 3}, noVersion},
		{"", []int{18}, noVersion}, {"19.1.0", nil, noVersion}, {"18.3.1", []int{18, 3, 1}, noVersion},
	} {
		if got := relationToUsed(tt.used, tt.own); got != tt.want {
			t.Errorf("relationToUsed(%q, %v) = %d, want %d", tt.used, tt.own, got, tt.want)
		}
	}
}
