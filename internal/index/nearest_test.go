package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// The documents nearest to a text are those that share its subject, also without its
// words; a database without vectors has none.
func TestNearest(t *testing.T) {
	dir := t.TempDir()
	subjects := [][]string{
		{"kubernetes", "cluster", "pod", "deployment", "namespace", "container"},
		{"invoice", "payment", "customer", "refund", "ledger", "currency"},
		{"compiler", "parser", "token", "grammar", "syntax", "lexer"},
	}
	var passages []passage.Passage
	for i := range 420 {
		s := subjects[i%len(subjects)]
		var words []string
		for k := range 12 {
			words = append(words, s[(i/3+k*(1+i%5))%len(s)], fmt.Sprintf("w%d", (i*7+k*13)%90))
		}
		passages = append(passages, passage.Passage{ID: fmt.Sprint(i), Path: fmt.Sprintf("%d.md", i), Text: strings.Join(words, " ")})
	}
	build := func(passages []passage.Passage) *Database {
		t.Helper()
		var lines []byte
		for i := range passages {
			lines = passages[i].AppendLine(lines)
		}
		if err := os.WriteFile(filepath.Join(dir, "passages.jsonl"), lines, 0o644); err != nil {
			t.Fatal(err)
		}
		found, err := leann.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		buildBook(t, dir, FromLEANN(found), BuildOptions{})
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	d := build(passages)
	for s, words := range subjects {
		near, err := d.Nearest(t.Context(), nil, strings.Join(words[:4], " "), 40)
		if err != nil || near.Generation != d.gen.Manifest.Generation {
			t.Fatalf("%+v, %v", near, err)
		}
		similar := 0
		for document, similarity := range near.Similarities {
			if similarity < 0 || similarity > 1 {
				t.Errorf("similarity %g", similarity)
			}
			if similarity > 0 {
				similar++
				if int(document)%len(subjects) != s {
					t.Errorf("%q: document %d has the similarity %g", words, document, similarity)
				}
			}
		}
		if similar < 5 {
			t.Errorf("%q: %d similar documents", words, similar)
		}
	}
	for _, text := range []string{"", "unheard"} {
		if near, err := d.Nearest(t.Context(), nil, text, 40); err != nil || len(near.Similarities) > 0 {
			t.Errorf("%q: %+v, %v", text, near, err)
		}
	}
	small := build(passages[:20])
	if near, err := small.Nearest(t.Context(), nil, "kubernetes cluster", 40); err != nil || len(near.Similarities) > 0 {
		t.Errorf("without vectors: %+v, %v", near, err)
	}
}
