package lexical

import "testing"

func TestReleaseOf(t *testing.T) {
	for title, want := range map[string]string{
		"Django 3.2 release notes":   "3.2",
		"What’s New In Python 3.11":  "3.11",
		"Release 15":                 "15",
		"Git v2.39 Release Notes":    "2.39",
		"Version 4.x releases":       "4",
		"Release process":            "",
		"What's new":                 "",
		"4. Using Python on Windows": "",
		"HTTP/2":                     "",
		"":                           "",
	} {
		if got := releaseOf(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

func TestSearchReleaseNotes(t *testing.T) {
	x := build(t, []uint32{0, 1, 2, 2, 3}, []Fields{
		{Title: "merge", Page: "merge", Body: "How to merge rows with merge. A new row is merged. Notes on merge."},
		{Title: "Merging", Page: "Merge 2.0 release notes", Body: "Rows merge.", Address: "releases/2.0.html"},
		{Title: "Merging", Page: "Merge 3.0 release notes", Body: "Merge is new: rows merge.", Address: "releases/3.0.html"},
		{Title: "Other", Page: "Merge 3.0 release notes", Body: "Less memory.", Address: "releases/3.0.html"},
		{Title: "new", Page: "new", Body: "A new row is new. What a release of rows notes."},
	})
	for _, tt := range []struct {
		query string
		want  uint32
		news  bool
	}{
		{"merge 3.0 release notes merging", 2, false},
		{"merge 2.0 release notes merging", 1, false},
		{"what's new about memory in merge", 3, false}, // of the index's own version
		{"merge 3.0 changelog memory", 3, false},
		{"changelog of merge 4.0", 0, true},
		{"merge 4.0 release notes", 0, true},
		{"new row", 4, false},
		{"row that is new in merge 3.0", 2, false},
		{"what changed in merge 2.0 merging", 1, false},
		{"merge 3.0 changes in rows", 0, false},
		{"generate a changelog", 0, false},
	} {
		hits, s, err := x.Search(Query{Text: tt.query, Names: []string{"merge"}, Version: "3.0", Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if !tt.news && tt.want > 0 && (len(hits) == 0 || hits[0].Passage != tt.want) {
			t.Errorf("%s: got %+v, want passage %d first", tt.query, hits, tt.want)
		}
		if notes := len(hits) > 0 && hits[0].Definition >= releaseBonus; notes != (tt.want >= 1 && tt.want <= 3) {
			t.Errorf("%s: release notes first: %t", tt.query, notes)
		}
		if news := s.News > 0; news != tt.news {
			t.Errorf("%s: asks for news: %t", tt.query, news)
		}
	}
}
