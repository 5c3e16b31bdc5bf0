package index_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A page can be read by any equivalent URL.
func TestReadByURL(t *testing.T) {
	pages := []passage.Passage{
		{Path: "guide/start.md", StartLine: 3, EndLine: 9, Anchors: []string{"begin"}},
		{Path: "guide/index.md"},
		{Path: "C++.html"},
		{Path: "mirror/C%2B%2B.html"},
		{Path: "paren(1).html"},
		{Path: "~user/größe.html", Anchors: []string{"maß"}},
		{Path: "lang/c#.md"},
		{URL: "https://site.example.org/3.2/C%2B%2B/"},
		{URL: "https://site.example.org/3.2/paren(1).html"},
		{URL: "https://site.example.org/3.2/~user/gr%c3%b6%c3%9fe#ma%C3%9F"},
	}
	dir := t.TempDir()
	var lines []byte
	for i := range pages {
		pages[i].ID, pages[i].Text = fmt.Sprint("p", i), fmt.Sprint("Text of page ", i)
		lines = pages[i].AppendLine(lines)
	}
	if err := os.WriteFile(filepath.Join(dir, leann.PassagesName), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := buildWith(t, dir, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir)
	for _, tt := range []struct {
		name   string
		page   int // -1: none
		wanted int // position of the passage, or -1
		mapped bool
	}{
		{"guide/start.md", 0, -1, false},
		{"guide/start.md:4", 0, 0, false},
		{"guide/start.md#begin", 0, 0, false},
		{"https://docs.example.org/guide/start.md", 0, -1, true},
		{"https://docs.example.org/guide/start/", 0, -1, true},
		{"http://www.docs.example.org/guide/start.html?utm_source=x#begin", 0, 0, true},
		{"https://docs.example.org/guide/", 1, -1, true},
		{"https://docs.example.org/guide/none", -1, 0, false},
		{"https://other.example.org/guide/start/", -1, 0, false},
		{"C%2b%2B.html", 2, -1, false},
		{"https://docs.example.org/C++.html", 2, -1, true},
		{"https://docs.example.org/C%2B%2B", 2, -1, true},
		{"mirror/C++.html", 3, -1, false},
		{"https://docs.example.org/mirror/C%2b%2b.html", 3, -1, true},
		{"paren%281%29.html", 4, -1, false},
		{"https://docs.example.org/paren%281%29.html", 4, -1, true},
		{"%7euser/gr%c3%b6%c3%9fe.html#ma%C3%9F", 5, 0, false},
		{"https://docs.example.org/%7Euser/gr%C3%B6%C3%9Fe.html#ma%c3%9f", 5, 0, true},
		{"lang/c#.md", 6, -1, false},
		{"https://docs.example.org/lang/c%23", 6, -1, true},
		{"https://site.example.org/3.2/C++", 7, -1, true},
		{"https://site.example.org/3/C%2b%2b/index.html", 7, -1, true},
		{"https://site.example.org/2/C%2b%2b/", -1, 0, false},
		{"https://site.example.org/3.2/paren%281%29.html", 8, -1, true},
		{"https://site.example.org/3.2/%7Euser/größe#ma%C3%9F", 9, 0, true},
		{"p8", 8, 0, false},
	} {
		r, err := db.Read(index.Ref{Name: tt.name, URLs: []string{"https://docs.example.org"}, Version: "3.2"})
		if tt.page < 0 {
			if !errors.Is(err, index.ErrNotFound) {
				t.Errorf("%s: %+v, %v, want ErrNotFound", tt.name, r, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if id := fmt.Sprint("p", tt.page); r.Passages[0].ID != id || r.Wanted != tt.wanted || r.Mapped != tt.mapped {
			t.Errorf("%s: %s, wanted %d, mapped %t; want %s, %d, %t", tt.name, r.Passages[0].ID, r.Wanted, r.Mapped, id, tt.wanted, tt.mapped)
		}
	}
}

// A page has the passages around the requested one, the outline of the whole document, and
// the neighbors of the document.
func TestReadPage(t *testing.T) {
	var lines []byte
	add := func(url, heading string) {
		p := passage.Passage{ID: fmt.Sprint("p", len(lines)), URL: url, Title: url[len(url)-1:], Headings: []string{heading}, Text: "Text about " + heading}
		lines = p.AppendLine(lines)
	}
	add("https://site.example.org/a", "A")
	for i := range 7 {
		add("https://site.example.org/b", fmt.Sprint("B", i/2))
	}
	add("https://site.example.org/c", "C")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, leann.PassagesName), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := buildWith(t, dir, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir)
	whole, err := db.Read(index.Ref{Name: "https://site.example.org/b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name                 string
		number               int
		first, count, wanted int // count 0: not found
	}{
		{"https://site.example.org/b", -1, 0, 3, -1},
		{"https://site.example.org/b", 2, 6, 1, -1},
		{"https://site.example.org/b", 3, 0, 0, 0},
		{"https://site.example.org/b", 1 << 62, 0, 0, 0},
		{whole.Passages[4].ID, -1, 3, 3, 1},
		{whole.Passages[4].ID, 0, 0, 3, -1},
		{"https://site.example.org/none", -1, 0, 0, 0},
	} {
		p, err := db.ReadPage(index.Ref{Name: test.name}, test.number, 3)
		if test.count == 0 {
			if !errors.Is(err, index.ErrNotFound) {
				t.Errorf("page %d of %s: %v, want ErrNotFound", test.number, test.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.First != test.first || len(p.Passages) != test.count || p.Wanted != test.wanted || p.Total != 7 {
			t.Errorf("page %d of %s: %d passages from %d of %d, wanted %d; want %+v", test.number, test.name, len(p.Passages), p.First, p.Total, p.Wanted, test)
		}
		if len(p.Outline) != 4 || p.Outline[1].Passage != 2 || p.Outline[1].Path[0] != "B1" || p.More {
			t.Errorf("outline: %+v", p.Outline)
		}
		if p.Previous == nil || p.Previous.Title != "a" || p.Next == nil || p.Next.Key != "https://site.example.org/c" {
			t.Errorf("neighbors: %+v, %+v", p.Previous, p.Next)
		}
	}
	if p, err := db.ReadPage(index.Ref{Name: "https://site.example.org/a"}, -1, 3); err != nil || p.Previous != nil || p.Next == nil {
		t.Errorf("first document: %+v, %v", p, err)
	}
}
