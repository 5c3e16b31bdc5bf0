package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/cluster/clustertest"
)

// fakeContent is a content in memory.
type fakeContent struct {
	passages   []Passage
	pages      []Page
	statistics []byte
}

func (f *fakeContent) Export(_ context.Context, passage func(Passage) error, page func(Page) error) ([]byte, error) {
	for _, p := range f.passages {
		if err := passage(p); err != nil {
			return nil, err
		}
	}
	for _, p := range f.pages {
		if err := page(p); err != nil {
			return nil, err
		}
	}
	return f.statistics, nil
}

// newContent returns n passages with random words. Passage i is the only one with the
// word "only<i>".
func newContent(n int) *fakeContent {
	rng := rand.New(rand.NewPCG(1, 2))
	f := &fakeContent{statistics: []byte(strings.Repeat("statistics ", 200_000))}
	for i := range n {
		var words []string
		for range 50 {
			words = append(words, fmt.Sprintf("w%d", int(rng.ExpFloat64()*40)))
		}
		document := fmt.Sprintf("https://docs.example.org/page-%d.html", i/5)
		f.passages = append(f.passages, Passage{
			ID: fmt.Sprintf("p%d", i), Bag: strings.Join(words, " ") + fmt.Sprintf(" only%d", i), Symbols: fmt.Sprintf("s%d", i%7), Document: document,
			Line: fmt.Sprintf(`{"id": "p%d", "text": %q}`, i, strings.Join(words, " ")), Record: []byte{byte(i), byte(i >> 8), 3},
		})
		if i%5 == 0 {
			f.pages = append(f.pages, Page{Document: document, Bag: strings.Join(words, " "), Record: []byte{byte(i)}})
		}
	}
	return f
}

func newTestClient(t *testing.T, c *clustertest.Cluster) *Client {
	t.Helper()
	client, err := NewClient(Options{URLs: c.URLs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestPushToServer(t *testing.T) {
	c := clustertest.Start(t, 3, clustertest.Options{})
	client := newTestClient(t, c)
	ctx := t.Context()
	content := newContent(3000)
	start := time.Now()
	push := func() *PushResult {
		t.Helper()
		start = time.Now()
		r, err := client.Push(ctx, content, PushOptions{Name: "django", Tool: "1.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := push()
	if r.Unchanged || r.Incremental || r.Sent != 3000+600+3 {
		t.Errorf("first push: %+v", r)
	}
	t.Log("push", time.Since(start))
	if r := push(); !r.Unchanged {
		t.Errorf("second push: %+v", r)
	}
	content.passages[17].Line = `{"id": "p17", "text": "changed"}`
	content.passages = slices.Delete(content.passages, 100, 110)
	first := r.Commit.Tenant
	r = push()
	if !r.Incremental || r.Commit.Tenant != first || r.Sent != 1+3 || len(r.Commit.Passages.Dead) != 11 || r.Commit.Passages.Count != 2990 {
		t.Errorf("incremental push: %+v %+v", r, r.Commit)
	}
	for i := range content.passages[:1000] {
		content.passages[i].Bag += " more"
	}
	r = push()
	if r.Incremental || r.Commit.Tenant == first || len(r.Commit.Retired) != 1 {
		t.Errorf("full push: %+v %+v", r, r.Commit)
	}
	all, err := client.Databases(ctx)
	if err != nil || len(all) != 1 || all[0].Name != "django" {
		t.Errorf("databases: %v %v", all, err)
	}
}
