package html

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is extracted into testdata")

// A page for each generator, and one for none.
func TestGolden(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("testdata", "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages in testdata: %v", len(pages), err)
	}
	known := map[string]bool{}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), ".html")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page, err := Parse(data, "", "docs/"+name+".html")
			if err != nil {
				t.Fatal(err)
			}
			known[page.Generator] = true
			got, golden := describe(page), strings.TrimSuffix(path, ".html")+".md"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("extracted (-want +got):\n%s", diff)
			}
		})
	}
	for _, g := range generators {
		if !known[g.name] {
			t.Errorf("no page in testdata is recognised as made by %s", g.name)
		}
	}
}

// describe formats a page completely.
func describe(p Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\ngenerator: %s\nlanguage: %s\ncanonical: %s\n", p.Title, p.Generator, p.Language, p.Canonical)
	if p.NoIndex {
		fmt.Fprintln(&b, "noindex")
	}
	for _, h := range p.Hidden {
		fmt.Fprintf(&b, "hidden: %s\n", h)
	}
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n=== %s\n", strings.Join(s.Headings, " > "))
		if s.Definition {
			fmt.Fprint(&b, "definition ")
		}
		fmt.Fprintf(&b, "#%s", s.Anchor)
		for _, a := range s.Anchors {
			fmt.Fprintf(&b, " #%s", a)
		}
		fmt.Fprintln(&b)
		if s.Symbol != "" {
			fmt.Fprintf(&b, "symbol: %s\n", s.Symbol)
		}
		if len(s.Terms) > 0 {
			fmt.Fprintf(&b, "terms: %s\n", strings.Join(s.Terms, ", "))
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, "link: %s %q\n", l.Target, l.Text)
		}
		fmt.Fprintf(&b, "---\n%s\n", s.Markdown)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}
