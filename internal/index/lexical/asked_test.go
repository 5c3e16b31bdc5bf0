package lexical

import (
	"slices"
	"testing"
)

func TestAskedWords(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	french, err := NewAnalyzer("french")
	if err != nil {
		t.Fatal(err)
	}
	git := asker{a, []string{"scm", "Git"}}
	option := Fields{Title: "--force-with-lease[=<refname>], --[no-]force-with-lease", Page: "git-push(1)", Path: []string{"OPTIONS"}, Body: "See also --force-if-includes."}
	for _, tt := range []struct {
		name  string
		asker asker
		Fields
		word string
		want bool
	}{
		{"setting", git, Fields{Title: "push.useForceIfIncludes", Page: "git-config(1)"}, "teammat", true},
		{"of another database", asker{a, []string{"cmake"}}, Fields{Title: "push.useForceIfIncludes"}, "teammat", false},
		{"not in English", asker{french, []string{"git"}}, Fields{Title: "push.useForceIfIncludes"}, "teammat", false},
		{"option with another target", git, option, "teammat", true},
		{"option without", git, Fields{Title: option.Title, Page: option.Page, Body: "See above."}, "teammat", false},
		{"of several headings", git, Fields{Title: "push.default / push.useForceIfIncludes"}, "teammat", true},
		{"anchor", git, Fields{Title: "Settings", Anchors: []string{"push.useForceIfIncludes"}}, "teammat", true},
		{"words of the heading", asker{analyzer: a}, Fields{Title: "Regular expressions"}, "regex", true},
		{"more words in the heading", asker{analyzer: a}, Fields{Title: "Regular expressions and their limits"}, "regex", false},
		{"title of the page", asker{analyzer: a}, Fields{Page: "Regular Expressions"}, "regex", true},
		{"generated name", asker{analyzer: a}, Fields{Title: "Regular Expressions", Named: true}, "regex", false},
		{"no heading", git, Fields{Body: "push.useForceIfIncludes"}, "teammat", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if words := tt.asker.words(&tt.Fields, symbols(&tt.Fields)); slices.Contains(words, tt.word) != tt.want {
				t.Errorf("the words are %q; with %s: want %t", words, tt.word, tt.want)
			}
		})
	}
}

// A search finds a passage by a word that is only in a key. The confidence does not
// depend on such words.
func TestSearchAsked(t *testing.T) {
	fields := []Fields{
		{Title: "push.default", Page: "git-config(1)", Body: "What to push without a refspec.", Address: "config.html#a"},
		{Title: "push.useForceIfIncludes", Page: "git-config(1)", Body: "Whether to check the reflog, too.", Address: "config.html#b"},
		{Title: "push.negotiate", Page: "git-config(1)", Body: "Whether to reduce the size of the pack.", Address: "config.html#c"},
		{Title: "teammates", Page: "Authors", Body: "A list.", Address: "authors.html"},
	}
	documents := []uint32{0, 0, 0, 1}
	search := func(x *Index, text string) ([]uint32, Signals) {
		t.Helper()
		hits, s, err := x.Search(Query{Text: text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var found []uint32
		for _, h := range hits {
			found = append(found, h.Passage)
		}
		return found, s
	}
	plain := build(t, documents, fields)
	asked := buildWith(t, Options{Names: []string{"git"}}, documents, fields)

	const text = "do not overwrite what others pushed"
	before, unaware := search(plain, text)
	found, signals := search(asked, text)
	if len(found) == 0 || found[0] != 1 || before[0] == 1 {
		t.Errorf("%q finds %v, without the keys %v", text, found, before)
	}
	if signals.Unknown != unaware.Unknown || signals.KnownShare != unaware.KnownShare || signals.MeanEvidence != unaware.MeanEvidence {
		t.Errorf("the evidence is %+v, want that without the keys: %+v", signals, unaware)
	}
	if found, _ := search(asked, "safer teammates"); found[0] != 3 {
		t.Errorf("a word in the text finds %v first, want 3", found)
	}
	if found, _ := search(asked, "push.default"); found[0] != 0 {
		t.Errorf("a name finds %v first, want 0", found)
	}
	reasons, err := asked.Explain(Query{Text: text}, 1)
	if err != nil || !slices.ContainsFunc(reasons, func(r Reason) bool { return r.Term == "overwrit" && r.Asked && r.Words > 0 }) {
		t.Errorf("the explanation is %+v, %v; want a share of the word overwrite", reasons, err)
	}
}
