package passage

import (
	"bytes"
	"os"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// Keep and Add produce the same table.
func TestKeepEqualsAdd(t *testing.T) {
	g := writeTable(t)
	entries, err := openTable(t, g).Entries()
	if err != nil {
		t.Fatal(err)
	}
	if entries.Len() != 6 || entries.Key(entries.Document(2)) != "a.md" || entries.Key(entries.Document(4)) != "" {
		t.Errorf("%d entries of %q and %q", entries.Len(), entries.Key(entries.Document(2)), entries.Key(entries.Document(4)))
	}
	var w TableWriter
	for n := range uint32(entries.Len()) {
		e := entries.At(n)
		if d := w.Keep(entries, n, e.Shard, e.Offset); d != entries.Document(n) {
			t.Errorf("passage %d is of document %d, was of %d", n, d, entries.Document(n))
		}
	}
	path := g.Path("again.table")
	if err := w.Write(confined.Of(path)); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(g.Path(TableName))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("another table, %v", err)
	}
}
