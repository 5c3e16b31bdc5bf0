package lexical

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// buildPages indexes one passage for each page. Each is a name, a slash at the end of its folder,
// and its text.
func buildPages(t *testing.T, pages ...string) (*Index, []string) {
	t.Helper()
	b := NewBuilder(Options{})
	var keys []string
	for i, p := range pages {
		key, text, _ := strings.Cut(p, ": ")
		keys = append(keys, key)
		b.Add(uint32(i), Fields{Title: "Page", Page: "Page", Body: text, Address: key})
	}
	b.SetMembers(passage.Families(keys, nil))
	path := filepath.Join(t.TempDir(), "lexical.idx")
	if err := b.Write(t.Context(), confined.Of(path)); err != nil {
		t.Fatal(err)
	}
	x, err := Open(confined.Of(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, keys
}

// library returns pages in English and French, and in two older versions; each of them says the
// same in its language.
func library() (pages []string) {
	for _, topic := range []string{"valve", "boiler", "kettle", "funnel"} {
		english, french := "How to clean the "+topic+" of the machine with vinegar.", "Comment nettoyer le "+topic+" de la machine avec du vinaigre."
		pages = append(pages,
			"docs/v1/"+topic+".md: "+english, "docs/"+topic+".md: "+english, "docs/v2/"+topic+".md: "+english,
			"docs/fr/"+topic+".md: "+french, "docs/zh-CN/"+topic+".md: 用醋清洗机器的 "+topic+"。")
	}
	return append(pages, "docs/v1/hose.md: The hose was removed: cut the gasket.")
}

func TestSearchChoosesMember(t *testing.T) {
	x, keys := buildPages(t, library()...)
	for _, tt := range []struct {
		q    Query
		want string
	}{
		{Query{Text: "how to clean the boiler"}, "docs/boiler.md"},
		{Query{Text: "clean boiler"}, "docs/boiler.md"},
		{Query{Text: "clean the boiler v1"}, "docs/v1/boiler.md"},
		{Query{Text: "clean the boiler in version 2"}, "docs/v2/boiler.md"},
		{Query{Text: "clean the boiler 2.x"}, "docs/v2/boiler.md"},
		{Query{Text: "machine 1 clean boiler", Names: []string{"machine"}}, "docs/v1/boiler.md"},
		{Query{Text: "clean 2 parts of the boiler"}, "docs/boiler.md"},
		{Query{Text: "clean the boiler", Used: "1.4.2"}, "docs/v1/boiler.md"},
		{Query{Text: "clean the boiler", Used: "3.0"}, "docs/boiler.md"},
		{Query{Text: "clean the boiler v9"}, "docs/boiler.md"},
		{Query{Text: "comment nettoyer le boiler"}, "docs/fr/boiler.md"},
		{Query{Text: "boiler de la machine, french documentation"}, "docs/fr/boiler.md"},
		{Query{Text: "用醋清洗机器的 boiler"}, "docs/zh-CN/boiler.md"},
		{Query{Text: "clean the boiler", Accept: func(n uint32) bool { return n%5 == 0 }}, "docs/v1/boiler.md"},
		{Query{Text: "cut the gasket of the hose"}, "docs/v1/hose.md"},
	} {
		tt.q.Limit = 10
		hits, _, err := x.Search(tt.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, keys[h.Document])
		}
		if len(got) == 0 || got[0] != tt.want {
			t.Errorf("%q: got %q, want %s first", tt.q.Text, got, tt.want)
		}
		topics := map[string]bool{}
		for _, key := range got {
			topic := key[strings.LastIndexByte(key, '/'):]
			if topics[topic] {
				t.Errorf("%q: got %q, want one of each family", tt.q.Text, got)
			}
			topics[topic] = true
		}
	}
	hits, err := x.SearchDocuments(Query{Text: "clean the boiler", Limit: 1}, 5, 6, 7)
	if err != nil || len(hits) != 3 {
		t.Errorf("of three documents: %v, %v, want a hit of each", hits, err)
	}
}

// A page has the answer that another one of its family lacks.
func TestSearchFindsWhatThePreferredLacks(t *testing.T) {
	x, keys := buildPages(t,
		"docs/v1/a.md: The gasket and the flange are joined by a clamp.", "docs/a.md: A clamp.",
		"docs/v1/b.md: Boilers.", "docs/b.md: Boilers.", "docs/v1/c.md: Kettles.", "docs/c.md: Kettles.")
	hits, _, err := x.Search(Query{Text: "gasket flange joined clamp", Limit: 5})
	if err != nil || len(hits) != 1 || keys[hits[0].Document] != "docs/v1/a.md" {
		t.Errorf("got %v, %v, want docs/v1/a.md only", hits, err)
	}
}

// Many versions of a few pages do not displace the other pages.
func TestSearchBeyondLargeFamilies(t *testing.T) {
	var pages []string
	for v := range 40 {
		for _, name := range []string{"a", "b", "c"} {
			pages = append(pages, fmt.Sprintf("v1.%d/%s.md: Open the valve of boiler %s and close the valve.", v, name, name))
		}
	}
	x, keys := buildPages(t, append(pages, "faq.md: Why does the valve of the kettle with a long handle drip?")...)
	hits, _, err := x.Search(Query{Text: "open valve", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range hits {
		got = append(got, keys[h.Document])
	}
	slices.Sort(got)
	if want := []string{"faq.md", "v1.39/a.md", "v1.39/b.md", "v1.39/c.md"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoFamilies(t *testing.T) {
	x, _ := buildPages(t, "docs/go/a.md: Open the valve.", "docs/js/a.md: Open the valve.")
	if x.HasFamilies() {
		t.Error("folders of programming languages are a family")
	}
}
