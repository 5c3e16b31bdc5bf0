package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/test/clustertest"
)

// TestDatabase pushes a database to three nodes. Searches and reads give the results of
// the local database.
func TestDatabase(t *testing.T) {
	c := clustertest.Start(t, 3, clustertest.Options{})
	client := newTestClient(t, c)
	ctx := t.Context()
	dir := indextest.Database(t, 3000)
	local, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if _, err := client.Push(ctx, FromDatabase(local), PushOptions{Name: "generated"}); err != nil {
		t.Fatal(err)
	}
	remote, err := Open(ctx, Options{URLs: c.URLs()}, "generated")
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	r, err := remote.Search(ctx, index.Query{Text: indextest.Question})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) || !r.Confident {
		t.Errorf("%d hits, confident %v", len(r.Hits), r.Confident)
	}
	for _, name := range []string{r.Hits[0].ID, r.Hits[0].Document()} {
		have, err := remote.Read(ctx, index.Ref{Name: name, Neighbors: 1})
		if err != nil {
			t.Fatal(err)
		}
		want, err := local.Read(index.Ref{Name: name, Neighbors: 1})
		if err != nil {
			t.Fatal(err)
		}
		if have.Total != want.Total || len(have.Passages) != len(want.Passages) || have.Passages[0].Text != want.Passages[0].Text {
			t.Errorf("read %s: %d passages of %d, want %d of %d", name, len(have.Passages), have.Total, len(want.Passages), want.Total)
		}
	}
	queries := indextest.Queries(50)
	same := 0
	start := time.Now()
	for _, q := range queries {
		have, err := remote.Search(ctx, index.Query{Text: q})
		if err != nil {
			t.Fatal(err)
		}
		want, err := local.Search(ctx, index.Query{Text: q, TopK: 50})
		if err != nil {
			t.Fatal(err)
		}
		best := 0.
		for _, h := range want.Hits {
			best = max(best, h.Lexical)
		}
		if len(have.Hits) > 0 && have.Hits[0].Lexical > best-1e-6 {
			same++
		}
	}
	t.Logf("%d of %d queries have the best hit of the local search, %v per query", same, len(queries), time.Since(start)/time.Duration(len(queries)))
	if same < len(queries)*8/10 {
		t.Errorf("only %d of %d queries have the best hit of the local search", same, len(queries))
	}
	// A pull gives the same passages and the same index.
	copied := t.TempDir()
	if _, err := index.Build(ctx, copied, &Source{Client: client, Name: "generated", Location: "test"}, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"docsearch/g000001/lexical.idx", "docsearch/g000001/passages.table"} {
		a, errA := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		b, errB := os.ReadFile(filepath.Join(copied, filepath.FromSlash(file)))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs: %v %v", file, errA, errB)
		}
	}
}
