package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/test/clustertest"
)

// fakeContent is a content in memory.
type fakeContent struct {
	passages   []Passage
	statistics []byte
	refuse     bool // fail in Check
}

func (f *fakeContent) Export(_ context.Context, each func(Passage) error) ([]byte, error) {
	for _, p := range f.passages {
		if err := each(p); err != nil {
			return nil, err
		}
	}
	return f.statistics, nil
}

func (f *fakeContent) Check(ctx context.Context, pushed *Database) error {
	state, err := pushed.State(ctx)
	if err == nil && f.refuse {
		err = errors.New("refused")
	}
	if err == nil && state.Passages.Count != len(f.passages) {
		err = errors.New("another state")
	}
	return err
}

// statistics returns the statistics of a small database, in three parts.
func statistics(t *testing.T) []byte {
	t.Helper()
	db, err := index.Open(indextest.Database(t, 50))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	data, err := db.Export(t.Context(), func(index.Exported) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	head := int(binary.LittleEndian.Uint32(data))
	padded := append(data[4:4+head:4+head], bytes.Repeat([]byte(" "), 2*partSize)...)
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(padded))), padded, data[4+head:])
}

// newContent returns n passages with random words. Passage i is the only one with the
// word "only<i>".
func newContent(t *testing.T, n int) *fakeContent {
	rng := rand.New(rand.NewPCG(1, 2))
	f := &fakeContent{statistics: statistics(t)}
	for i := range n {
		var words []string
		for range 50 {
			words = append(words, fmt.Sprintf("w%d", int(rng.ExpFloat64()*40)))
		}
		document := fmt.Sprintf("https://docs.example.org/page-%d.html", i/5)
		f.passages = append(f.passages, Passage{
			ID: fmt.Sprintf("p%d", i), Bag: strings.Join(words, " ") + fmt.Sprintf(" only%d s%d", i, i%7), Document: document, Place: i % 5,
			Line: fmt.Sprintf(`{"id": "p%d", "text": %q}`, i, strings.Join(words, " ")), Record: []byte{byte(i), byte(i >> 8), 3},
		})
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
	content := newContent(t, 3000)
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
	if r.Unchanged || r.Incremental || r.Sent != 3000+3 {
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
	if !r.Incremental || r.Commit.Tenant != first || r.Sent != 1 || len(r.Commit.Passages.Dead) != 11 || r.Commit.Passages.Count != 2990 {
		t.Errorf("incremental push: %+v %+v", r, r.Commit)
	}
	for i := range content.passages[:1000] {
		content.passages[i].Bag += " more"
	}
	content.refuse = true
	if _, err := client.Push(ctx, content, PushOptions{Name: "django"}); err == nil || err.Error() != "refused" {
		t.Errorf("push of a refused content: %v", err)
	}
	content.refuse = false
	if now, err := client.Commit(ctx, "django"); err != nil || now.Tenant != first || now.Content != r.Commit.Content {
		t.Errorf("state after a failed push: %+v %v", now, err)
	}
	if tenants, err := client.tenants(ctx, "django"); err != nil || len(tenants) != 1 {
		t.Errorf("tenants after a failed push: %v %v", tenants, err)
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

// TestProbe runs the test of searches against a server that prunes, and one that does not.
func TestProbe(t *testing.T) {
	client := newTestClient(t, clustertest.Start(t, 1, clustertest.Options{Pruning: true}))
	start := time.Now()
	err := client.ProbeSearch(t.Context())
	var missing *MissingMatchesError
	if !errors.As(err, &missing) {
		t.Errorf("with pruning: %v, want missing matches", err)
	}
	t.Log(err, time.Since(start))
	client = newTestClient(t, clustertest.Start(t, 1, clustertest.Options{}))
	if err := client.ProbeSearch(t.Context()); err != nil {
		t.Errorf("without pruning: %v", err)
	}
	classes, err := client.classes(t.Context())
	if err != nil || len(classes) > 0 {
		t.Errorf("classes %v remain, %v", classes, err)
	}
}

func TestFindAndPull(t *testing.T) {
	c := clustertest.Start(t, 1, clustertest.Options{})
	client := newTestClient(t, c)
	ctx := t.Context()
	content := newContent(t, 2500)
	if _, err := client.Push(ctx, content, PushOptions{Name: "a b/ü"}); err != nil {
		t.Fatal(err)
	}
	d, err := Open(ctx, Options{URLs: c.URLs()}, "a b/ü")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	state, err := d.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.Find(ctx, state, "only77 s0", 200)
	if err != nil {
		t.Fatal(err)
	}
	if first := content.passages[77]; len(found) != 200 || found[0].Line != first.Line || string(found[0].Record) != string(first.Record) {
		t.Errorf("found %d passages, first %+v", len(found), found[0])
	}
	document := content.passages[77].Document
	books := library{d, state}
	passages, err := books.Document(ctx, document)
	if err != nil || len(passages) != 5 || passages[0].ID != "p75" || passages[4].ID != "p79" {
		t.Errorf("document: %+v %v", passages, err)
	}
	if p, err := books.Passage(ctx, "p99"); err != nil || len(p) != 1 || p[0].Line != content.passages[99].Line {
		t.Errorf("passage: %v %v", p, err)
	}
	if _, err := Open(ctx, Options{URLs: c.URLs()}, "unknown"); !errors.Is(err, ErrNoDatabase) {
		t.Errorf("unknown database: %v", err)
	}
	// The passages of an edited document keep their order in a pull.
	content.passages[3].Line = `{"id": "p3", "text": "edited"}`
	if _, err := client.Push(ctx, content, PushOptions{Name: "a b/ü"}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := &Source{Client: client, Name: "a b/ü", Location: c.URLs()[0] + "/a"}
	if _, err := index.Build(ctx, dir, source, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "documents.leann.passages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, p := range content.passages {
		want.WriteString(p.Line + "\n")
	}
	if string(data) != want.String() {
		t.Errorf("pulled %d bytes, want %d", len(data), want.Len())
	}
	commit, problems, err := client.Verify(ctx, "a b/ü", nil)
	if err != nil || len(problems) > 0 || commit.Passages.Count != 2500 {
		t.Errorf("verify: %v %v", problems, err)
	}
	if err := client.deleteObjects(ctx, classPassages, commit.Tenant, []objectID{content.passages[5].digest().id(commit.Tenant)}); err != nil {
		t.Fatal(err)
	}
	if _, problems, err = client.Verify(ctx, "a b/ü", nil); err != nil || len(problems) != 1 {
		t.Errorf("verify with a missing passage: %v %v", problems, err)
	}
	if err := client.Remove(ctx, "a b/ü"); err != nil {
		t.Fatal(err)
	}
	if err := client.Remove(ctx, "a b/ü"); !errors.Is(err, ErrNoDatabase) {
		t.Errorf("second remove: %v", err)
	}
	if tenants, err := client.tenants(ctx, "a b/ü"); err != nil || len(tenants) > 0 {
		t.Errorf("tenants %v remain, %v", tenants, err)
	}
}
