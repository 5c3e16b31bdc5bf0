package leann

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/passage"
)

var somePassages = []passage.Passage{
	{ID: "a1", Text: "first", Title: "T", Path: "t.md", StartLine: 1, EndLine: 2},
	{ID: "ü", Text: "zweiter < \u2028", Headings: []string{"A", "B"}},
	{ID: "c", Text: "third\nline"},
}

// publish writes passages into a generation's folder and publishes them.
func publish(t *testing.T, dir string, passages []passage.Passage) {
	t.Helper()
	var lines []byte
	for _, p := range passages {
		lines = p.AppendLine(lines)
	}
	generation := confined.In(dir).Join("generation")
	if err := generation.MakeFolder(0o755); err != nil {
		t.Fatal(err)
	}
	shard := generation.Join(passage.ShardName(0))
	if err := os.Remove(shard.String()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(shard.String(), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := stageAndPublish(shard, Origin{Kind: "folder", Location: "/docs"}); err != nil {
		t.Fatal(err)
	}
}

func stageAndPublish(passages confined.Path, origin Origin) error {
	staged, err := Stage(passages, origin, 0o644)
	if err != nil {
		return err
	}
	return staged.Publish()
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, somePassages[:1])
	publish(t, dir, somePassages) // replaces the first index
	x, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if x.Kind != KindIndex || len(x.Shards) != 1 || x.Offsets[0] == "" {
		t.Errorf("found %+v", x)
	}
	if m := x.Meta; m.Backend != "none" || m.EmbeddingModel != "" || m.EmbeddingMode != "" || m.Dimensions != 0 {
		t.Errorf("the meta file claims a backend: %+v", m)
	}
	if _, err := x.OpenVectors(); !errors.Is(err, ErrNoVectors) {
		t.Errorf("vectors: %v", err)
	}
	if diff := cmp.Diff(&Origin{Kind: "folder", Location: "/docs"}, x.Meta.Origin); diff != "" {
		t.Errorf("origin (-want +got)\n%s", diff)
	}
	if notes, err := x.Check(t.Context()); err != nil || len(notes) > 0 {
		t.Errorf("Check: %q, %v", notes, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("the folder holds %v, %v; want four files and the generation", entries, err)
	}
	if err := Unpublish(dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("Unpublish left %v, %v", entries, err)
	}
}

// Publish works after an interrupted call, and with the published file itself as
// its input.
func TestPublishAgain(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, somePassages)
	path := filepath.Join(dir, PassagesName)
	if err := os.WriteFile(path+".new", []byte("rest"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := stageAndPublish(confined.Of(path), Origin{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("the temporary file still exists")
	}
	if x, err := Find(dir); err != nil || x.Meta.Origin != nil {
		t.Errorf("found %+v, %v", x, err)
	}
}

func TestPublishRejectsInvalidPassages(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p.jsonl")
	for _, content := range []string{"{}\n", "\xff\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := stageAndPublish(confined.Of(path), Origin{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("published %q: %v", content, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("left %v, %v", entries, err)
		}
	}
}

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.jsonl")
	for n := range 12 {
		var data []byte
		var wantIDs []string
		var wantOffsets []int64
		for i := range n {
			p := passage.Passage{ID: strconv.Itoa(i), Text: strings.Repeat("text\n", i*i)}
			wantIDs, wantOffsets = append(wantIDs, p.ID), append(wantOffsets, int64(len(data)))
			data = p.AppendLine(data)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for pieces := 1; pieces < 8; pieces++ {
			ids, offsets, err := scanLines(confined.Of(path), pieces)
			if diff := cmp.Diff(wantIDs, ids) + cmp.Diff(wantOffsets, offsets); err != nil || diff != "" {
				t.Errorf("%d lines in %d pieces: %v (-want +got)\n%s", n, pieces, err, diff)
			}
		}
	}
}

// Python's json and pickle read a published index the way LEANN does.
func TestPythonReadsPublishedIndex(t *testing.T) {
	python := findPython(t)
	dir := t.TempDir()
	publish(t, dir, somePassages)
	const program = `
import json, os, pickle, sys
d = sys.argv[1]
meta = json.load(open(os.path.join(d, "documents.leann.meta.json"), encoding="utf-8"))
for key in ("version", "backend_name", "embedding_model", "dimensions", "backend_kwargs", "embedding_mode"):
    meta[key]
(source,) = meta["passage_sources"]
assert source["type"] == "jsonl"
offsets = pickle.load(open(os.path.join(d, source["index_path"]), "rb"))
ids = open(os.path.join(d, "documents.ids.txt"), encoding="utf-8").read().splitlines()
assert ids == list(offsets), (ids, offsets)
assert meta["total_passages"] == len(ids)
f = open(os.path.join(d, source["path"]), encoding="utf-8")
for id, offset in offsets.items():
    f.seek(offset)
    line = json.loads(f.readline())
    assert line["id"] == id and isinstance(line["metadata"], dict), line
    print(line["text"].encode("unicode_escape").decode())
`
	out, err := exec.Command(python, "-c", program, dir).CombinedOutput()
	if want := "first\nzweiter < \\u2028\nthird\\nline\n"; err != nil || string(out) != want {
		t.Errorf("Python printed %q, %v; want %q", out, err, want)
	}
}

func TestCheck(t *testing.T) {
	const passages = `{"id": "a", "text": "x"}` + "\n" + `{"id": "b", "text": "x"}` + "\n" + `{"id": "a", "text": "last"}` + "\n"
	for _, tt := range []struct{ name, offsets, want string }{
		{"right", string(appendPickle(nil, []string{"a", "b"}, []int64{50, 25})), ""},
		{"Rust, right", "0\n25\n50\n", ""},
		{"misplaced", string(appendPickle(nil, []string{"a", "b"}, []int64{50, 26})), "p.idx lists 2 of 3 passages, 1 of them at a wrong position"},
		{"one is missing", string(appendPickle(nil, []string{"b"}, []int64{25})), "p.idx omits 2 of 3 passages, so LEANN and docsearch skip them"},
		{"Rust, one is missing", "0\n25\n", "p.idx lists 2 of 3 passages, 0 of them at a wrong position"},
		{"Rust, shifted", "1\n26\n", "p.idx lists 2 of 3 passages, 2 of them at a wrong position"},
		{"of more passages", "0\n25\n50\n75\n", "p.idx lists 4 of 3 passages, 1 of them at a wrong position"},
		{"unreadable", "\x80\x02]", "cannot read p.idx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := Find(filepath.Join(tree(t, map[string]string{"p.jsonl": passages, "p.idx": tt.offsets}), "p.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			notes, err := x.Check(t.Context())
			got := strings.Join(notes, "\n")
			if err != nil || (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("Check: %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// Passages that the .idx file does not list are not copied, nor those that a later one
// replaces. A file that does not match the passages is ignored.
func TestCopyShard(t *testing.T) {
	const a, b, again = `{"id": "a", "text": "x"}` + "\n", `{"id": "b", "text": "y"}` + "\n", `{"id": "a", "text": "last"}`
	const noID = `{"text": "z"}` + "\n"
	long := `{"id": "l", "text": "` + strings.Repeat("x", 600<<10) + `"}` + "\n"
	pickled := func(ids string, offsets ...int64) string {
		return string(appendPickle(nil, strings.Fields(ids), offsets))
	}
	for _, tt := range []struct {
		name, passages, offsets, want string
		skipped                       int
	}{
		{"all listed", a + b, pickled("a b", 0, 25), a + b, 0},
		{"removed", a + b, pickled("b", 25), b, 1},
		{"removed at the end", a + b, pickled("a", 0), a, 1},
		{"replaced", a + b + again, pickled("a b", 50, 25), b + again, 1},
		{"long lines", long + a + long, pickled("a", int64(len(long))), a, 2},
		{"long line kept", a + long + b, pickled("l", 25), long, 2},
		{"byte order mark", "\xef\xbb\xbf" + a + b, pickled("b", 28), b, 1},
		{"invalid lines stay", "no passage\n\n" + a + b, pickled("b", 37), "no passage\n\n" + b, 1},
		{"without IDs", noID + noID, pickled("1", 14), noID, 1},
		{"none", a + b, pickled(""), "", 2},
		{"does not match", a + b, pickled("a", 1), a + b, 0},
		{"of more passages", a, pickled("a b", 0, 25), a, 0},
		{"Rust", a + b, "0\n", a + b, 0},
		{"unreadable", a + b, "\x80\x02]", a + b, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := Find(filepath.Join(tree(t, map[string]string{"p.jsonl": tt.passages, "p.idx": tt.offsets}), "p.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if skipped, err := x.CopyShard(t.Context(), 0, &got); err != nil || skipped != tt.skipped || got.String() != tt.want {
				t.Errorf("skipped %d, %v; want %d; copied %.200q", skipped, err, tt.skipped, got.String())
			}
		})
	}
}

func FuzzCopyShard(f *testing.F) {
	f.Add([]byte("{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"b\", \"text\": \"x\"}\n"), appendPickle(nil, []string{"b"}, []int64{25}))
	f.Add([]byte("\xef\xbb\xbf{\"text\": \"x\"}\r\n\n"), []byte("3\n"))
	f.Fuzz(func(t *testing.T, passages, offsets []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{"p.jsonl": passages, "p.idx": offsets} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		x, err := Find(filepath.Join(dir, "p.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		skipped, err := x.CopyShard(t.Context(), 0, &got)
		if err != nil || skipped == 0 && !bytes.Equal(got.Bytes(), passages) || skipped > 0 && got.Len() >= len(passages) {
			t.Errorf("skipped %d, %v: %q", skipped, err, got.Bytes())
		}
	})
}

func TestCopyKeepsModTime(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	past := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(from, past, past); err != nil {
		t.Fatal(err)
	}
	if err := copyWithTime(confined.Of(from), confined.Of(to), 0o644); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(to); err != nil || !st.ModTime().Equal(past) || st.Size() != 1 {
		t.Errorf("copied as %v, %v", st, err)
	}
	if err := copyWithTime(confined.Of(from), confined.Of(to), 0o644); err == nil {
		t.Error("overwrote an existing file")
	}
}
