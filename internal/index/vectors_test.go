package index

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// The terms kept by the lexical index are the same as those of the stored passage.
func TestTermsOfIndexAndPassageAgree(t *testing.T) {
	passages := []passage.Passage{
		{Title: "The os.path module", Headings: []string{"Files", "getName and __init__"}, Path: "a.html", Text: "Use `os.path.join`, --amend\nor c++: the files' names."},
		{Title: "No headings", Path: "b.md", Text: "text\r\nwith 東京都 in it"},
		{Path: "named-after/the-file.md", Text: "# Neither title nor heading\n\nwords"},
		{ID: "7", Text: "Named after its first line.\nAnother."},
		{Headings: []string{"One heading"}, Text: "untitled"},
		{Title: "No words", Path: "c.md", Text: "-- ++ the"},
		{Title: strings.Repeat("long title ", 200), Headings: []string{"h"}, Text: "cut short in the index"},
	}
	lex := lexical.NewBuilder(lexical.Options{Content: len(passages)})
	var links linkGraph
	for i := range passages {
		lex.Add(uint32(i), fields(&passages[i], &links))
	}
	if err := lex.Write(t.Context(), confined.Of(filepath.Join(t.TempDir(), lexicalName))); err != nil {
		t.Fatal(err)
	}
	analyzer, err := lexical.NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for i := range passages {
		head, body, ok := lex.Content(i)
		if !ok {
			continue
		}
		known++
		want := analyzer.Terms(trainingText(&passages[i]))
		if diff := cmp.Diff(want, slices.Concat(head, head, body)); diff != "" {
			t.Errorf("passage %d (-read +kept):\n%s", i, diff)
		}
	}
	if known != len(passages)-1 {
		t.Errorf("the terms of %d passages are known, want those of all but the one that was cut", known)
	}
	if _, _, ok := lex.Content(len(passages)); ok {
		t.Error("knows a passage that is not there")
	}
}

func TestContentLimit(t *testing.T) {
	lex := lexical.NewBuilder(lexical.Options{Content: 3})
	for i := range 4 {
		lex.Add(uint32(i), lexical.Fields{Body: "words"})
	}
	if err := lex.Write(t.Context(), confined.Of(filepath.Join(t.TempDir(), lexicalName))); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := lex.Content(0); ok {
		t.Error("keeps the terms of more passages than its limit")
	}
}
