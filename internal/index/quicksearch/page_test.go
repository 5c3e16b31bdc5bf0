package quicksearch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/progress"
)

// open builds a database of the passages and opens it.
func open(t *testing.T, passages []passage.Passage) *quicksearch.Index {
	t.Helper()
	return openFrom(t, passages, func(s index.Source) index.Source { return withAliases{s} })
}

// openFrom is open with a source made of the passages' source.
func openFrom(t *testing.T, passages []passage.Passage, source func(index.Source) index.Source) *quicksearch.Index {
	t.Helper()
	dir := t.TempDir()
	var lines []byte
	for i := range passages {
		passages[i].ID = fmt.Sprint("p", i)
		lines = passages[i].AppendLine(lines)
	}
	if err := os.WriteFile(filepath.Join(dir, leann.PassagesName), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, source(index.FromLEANN(found)), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	x, err := quicksearch.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// withAliases is a source with an older URL of a page.
type withAliases struct{ index.Source }

func (s withAliases) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	prepared, err := s.Source.Prepare(ctx, dir, before, report)
	if err != nil {
		return prepared, err
	}
	return prepared, passage.WriteAliases(dir.Join(passage.AliasesName), map[string]string{
		"https://docs.example.org/3.2/brief.html": "https://docs.example.org/3.2/short/",
	})
}

// withRoot is a source with a folder of documents.
type withRoot struct {
	index.Source
	root string
}

func (s withRoot) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	prepared, err := s.Source.Prepare(ctx, dir, before, report)
	prepared.Source.Root = s.root
	return prepared, err
}

// Files have absolute paths while their folder exists.
func TestRoot(t *testing.T) {
	for root, absolute := range map[string]bool{t.TempDir(): true, filepath.Join(t.TempDir(), "gone"): false} {
		x := openFrom(t, []passage.Passage{{Path: "guide/start.md", Text: "How to start."}}, func(s index.Source) index.Source { return withRoot{s, root} })
		p, err := x.Passage(0)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.IsAbs(p.Path) != absolute || p.Relative() != "guide/start.md" {
			t.Errorf("the path is %s; absolute: want %t", p.Path, absolute)
		}
	}
}

// A fragment finds the section with its heading, by the rule of any generator.
func TestPageByHeading(t *testing.T) {
	passages := make([]passage.Passage, 4)
	for i, heading := range []string{"Gears", "`turn()`: The *first* gear", "Wheels & Axles", "Spokes {#old}"} {
		passages[i] = passage.Passage{Path: "src/gears.md", Headings: []string{"Gears", heading}, Text: "## " + heading + "\n" + strings.Repeat("Words about it. ", 40)}
	}
	passages[3].Text += "\n### Rims\nMore."
	passages[0].SetAddress("/kit/gears")
	x := open(t, passages)
	for fragment, want := range map[string]uint32{
		"turn-the-first-gear": 1, "turn_the_first_gear": 1, "Wheels-Axles": 2, "wheels--axles": 2, "rims": 3, "Rims": 3, "none": 0,
	} {
		page, held, err := x.Page(quicksearch.PageQuery{URL: "https://e.org/kit/gears#" + fragment, Prefixes: []string{"https://e.org/"}, Text: "zymotic", Limit: 1, MaxBytes: 100})
		if err != nil || !held || page.Hits[0].Number != want {
			t.Errorf("#%s: %v, %t, %v, want passage %d", fragment, page.Hits, held, err, want)
		}
	}
}

func TestPage(t *testing.T) {
	var passages []passage.Passage
	for i := range 40 {
		passages = append(passages, passage.Passage{
			URL:  fmt.Sprintf("https://docs.example.org/3.2/long.html#part-%d", i),
			Text: fmt.Sprintf("Part %d is about topic%d. ", i, i) + strings.Repeat("More on that. ", 20),
		})
	}
	passages = append(passages,
		passage.Passage{URL: "https://docs.example.org/3.2/short/", Text: "A short page."},
		passage.Passage{URL: "https://docs.example.org/3.2/short/#end", Text: "Its end.", Anchors: []string{"end", "the-end"}},
		passage.Passage{Path: "guide/start.md", Text: "How to start."},
		passage.Passage{Path: "README.md", Text: "Where it begins."},
		passage.Passage{URL: "https://docs.example.org/3.2/C%2B%2B.html", Text: "Another language."},
		passage.Passage{Path: "paren(1).md", Text: "A page of a manual."},
	)
	x := open(t, passages)
	for _, test := range []struct {
		name, url, text string
		want            []int // passages; nil: the page is not in the database
		whole           bool
	}{
		{"a short page", "https://docs.example.org/3.2/short/", "anything", []int{40, 41}, true},
		{"another way to write it", "http://www.docs.example.org/3.2/short/index.html?utm_source=x#end", "", []int{40, 41}, true},
		{"a URL that redirects", "https://docs.example.org/3.2/brief", "", []int{40, 41}, true},
		{"a general version", "https://docs.example.org/3/short", "", []int{40, 41}, true},
		{"another version", "https://docs.example.org/2.9/short", "", nil, false},
		{"a long page", "https://docs.example.org/3.2/long.html", "what is topic7 about", []int{7}, false},
		{"its section", "https://docs.example.org/3.2/long.html#part-9", "what is topic7 about", []int{9, 7}, false},
		{"no word of the question", "https://docs.example.org/3.2/long", "zymotic", []int{0, 1, 2}, false},
		{"no such page", "https://docs.example.org/3.2/none", "topic7", nil, false},
		{"outside the prefix", "https://example.org/3.2/short/", "", nil, false},
		{"a file", "https://docs.example.org/3.2/guide/start/", "", []int{42}, true},
		{"a folder's file", "https://docs.example.org/3.2/", "", []int{43}, true},
		{"another encoding", "https://docs.example.org/3.2/C++", "", []int{44}, true},
		{"lower-case digits", "https://docs.example.org/3.2/C%2b%2b.html", "", []int{44}, true},
		{"another encoding of a file", "https://docs.example.org/3.2/paren%281%29.html", "", []int{45}, true},
		{"no URL", "guide/start.md", "", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			page, held, err := x.Page(quicksearch.PageQuery{
				URL: test.url, Prefixes: []string{"https://other.example.org", "https://docs.example.org/3.2/"},
				Text: test.text, Limit: 3, MaxBytes: 2000,
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, h := range page.Hits {
				got = append(got, int(h.Number))
			}
			if held != (test.want != nil) || page.Whole != test.whole || len(got) < len(test.want) {
				t.Fatalf("held %t, whole %t, passages %v", held, page.Whole, got)
			}
			for i, n := range test.want {
				if got[i] != n {
					t.Errorf("passages %v, want first %v", got, test.want)
				}
			}
		})
	}
}
