package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// An update finds the families that a full build finds, also for documents that it reuses:
// their siblings come and go.
func TestUpdateFindsFamilies(t *testing.T) {
	b := newBook(40, 20)
	for i, p := range b.pages {
		p.name = fmt.Sprintf("%sguide/page%d.md", []string{"", "v1.2/", "ja/", "v1.2/ja/"}[i%4], i/4)
		p.sections = []*section{b.section(p.name)}
	}
	all := slices.Clone(b.pages)
	dir := t.TempDir()
	buildBook(t, dir, b, BuildOptions{Update: true})
	for _, tt := range []struct {
		without string // a folder
		has     bool
	}{
		{"v1.2/", true}, {"guide/", true}, {"ja/", true}, {"v", true}, {"none/", true},
	} {
		b.pages = slices.DeleteFunc(slices.Clone(all), func(p *page) bool { return strings.HasPrefix(p.name, tt.without) })
		have := buildBook(t, dir, b, BuildOptions{Update: true})
		want := buildBook(t, t.TempDir(), b.copy(), BuildOptions{})
		if diff := cmp.Diff(sums(want, passage.TableName, lexicalName), sums(have, passage.TableName, lexicalName)); diff != "" {
			t.Errorf("without %s (-built +updated):\n%s", tt.without, diff)
		}
		if got := openBook(t, dir).lexical.HasFamilies(); got != tt.has {
			t.Errorf("without %s: families %v, want %v", tt.without, got, tt.has)
		}
	}
}

// Hits that only the vectors find are not of a family that the words have found, either.
func TestSearchReturnsOneOfFamily(t *testing.T) {
	b := newBook(0, 0)
	for i := range embed.MinPassages {
		for _, folder := range []string{"docs/", "docs/v900/"} {
			name := fmt.Sprintf("%spage%d.md", folder, i)
			p := passage.Passage{ID: name, Path: name, Title: fmt.Sprintf("Page %d", i),
				Text: fmt.Sprintf("The boiler%d heats the kettle%d by the valve%d. %s", i, i/2, i/3, folder)}
			b.pages = append(b.pages, &page{name, []*section{{p, p.AppendLine(nil)}}})
		}
	}
	dir := t.TempDir()
	buildBook(t, dir, b, BuildOptions{})
	d := openBook(t, dir)
	if d.vectors == nil {
		t.Fatal("no vectors")
	}
	for query, want := range map[string]string{"boiler7 kettle3 valve2": "docs/page7.md", "boiler7 kettle3 valve2 version 900": "docs/v900/page7.md"} {
		r, err := d.Search(t.Context(), Query{Text: query, TopK: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Hits) == 0 || r.Hits[0].Path != want {
			t.Errorf("%q: got %v, want %s first", query, r.Hits, want)
		}
		seen := map[string]string{}
		for _, h := range r.Hits {
			if name := strings.Replace(h.Path, "v900/", "", 1); seen[name] != "" && seen[name] != h.Path {
				t.Errorf("%q: both %s and %s", query, seen[name], h.Path)
			} else {
				seen[name] = h.Path
			}
		}
	}
}
