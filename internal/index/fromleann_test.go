package index

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// After arbitrary changes by LEANN, reused lines are identical in both generations, and
// an update produces the same files as a full build.
func TestUpdateFromLEANN(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	b := newBook(60, 20)
	var lines [][]byte
	for _, p := range b.pages {
		for _, s := range p.sections {
			lines = append(lines, s.line)
		}
	}
	fresh := func() []byte { return b.section("guide/new.html").line }
	dir, other := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "p.jsonl")
	put := func() {
		t.Helper()
		if err := os.WriteFile(path, bytes.Join(lines, nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := func(dir string, update bool) Info {
		t.Helper()
		found, err := leann.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		return buildBook(t, dir, FromLEANN(found), BuildOptions{Update: update})
	}
	put()
	build(dir, false)
	changed := 0
	for range 12 {
		switch at := rng.IntN(len(lines)); rng.IntN(6) {
		case 0:
			lines = slices.Insert(lines, at, fresh())
		case 1:
			lines = slices.Delete(lines, at, min(len(lines), at+rng.IntN(4)))
		case 2: // duplicate line
			lines = append(lines, lines[at])
		case 3:
			lines[at], lines[0] = lines[0], lines[at]
		case 4:
			lines[at] = append(bytes.Clone(lines[at][:len(lines[at])-1]), "\r\n\n"...)
		default:
			lines[at] = fresh()
		}
		before, err := generation.Current(dir)
		if err != nil {
			t.Fatal(err)
		}
		put()
		found, err := leann.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		draft := t.TempDir()
		prepared, err := FromLEANN(found).Prepare(t.Context(), confined.Of(draft), &before, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, before, draft, prepared.Reused)
		have, want := build(dir, true), build(other, false)
		if diff := cmp.Diff(sums(want, passage.TableName, lexicalName), sums(have, passage.TableName, lexicalName)); diff != "" {
			t.Fatalf("the update writes other files (-build +update)\n%s", diff)
		}
		changed = max(changed, have.Training.Changed)
	}
	if changed == 0 {
		t.Error("no update reused the previous generation")
	}
}

// checkSame checks that reused lines are identical and make up most of the file.
func checkSame(t *testing.T, before generation.Generation, dir string, reused []generation.Reused) {
	t.Helper()
	old, err := os.ReadFile(before.Path(passage.ShardName(0)))
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(filepath.Join(dir, passage.ShardName(0)))
	if err != nil {
		t.Fatal(err)
	}
	end, n := int64(0), int64(0)
	for _, k := range reused {
		if k.Now.Offset < end || !bytes.Equal(old[k.Before.Offset:k.Before.Offset+k.Length], now[k.Now.Offset:k.Now.Offset+k.Length]) {
			t.Fatalf("run %+v is not the same", k)
		}
		end = k.Now.Offset + k.Length
		n += k.Length
	}
	if n < int64(len(now))*8/10 {
		t.Errorf("%d of %d bytes were reused", n, len(now))
	}
}

// An unreadable generation is not reused.
func TestUpdateFromLEANNOfDamage(t *testing.T) {
	b := newBook(20, 20)
	dir := t.TempDir()
	var lines []byte
	for _, p := range b.pages {
		for _, s := range p.sections {
			lines = append(lines, s.line...)
		}
	}
	path := filepath.Join(dir, "p.jsonl")
	for _, name := range []string{passage.TableName, passage.ShardName(0)} {
		if err := os.WriteFile(path, lines, 0o644); err != nil {
			t.Fatal(err)
		}
		found, err := leann.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		buildBook(t, dir, FromLEANN(found), BuildOptions{})
		before, err := generation.Current(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(before.Path(name)); err != nil {
			t.Fatal(err)
		}
		if reused := reusedLines(t.Context(), confined.Of(dir), 1, before); len(reused) > 0 {
			t.Errorf("without %s: %d runs were reused", name, len(reused))
		}
		lines = append(lines, b.section("more.html").line...)
		if err := os.WriteFile(path, lines, 0o644); err != nil {
			t.Fatal(err)
		}
		if found, err = leann.Find(path); err != nil {
			t.Fatal(err)
		}
		if info := buildBook(t, dir, FromLEANN(found), BuildOptions{Update: true}); info.Training.Changed > 0 {
			t.Errorf("without %s: an update reused it", name)
		}
	}
}

// A passage that LEANN has removed from the .idx file only is not indexed, and its removal
// makes the index stale.
func TestPassagesRemovedByLEANN(t *testing.T) {
	dir := t.TempDir()
	var lines []byte
	var offsets []int
	for _, text := range []string{"About widgets and their cranks.", "About gadgets and their bells.", "About doohickeys."} {
		offsets = append(offsets, len(lines))
		p := passage.Passage{ID: string(rune('a' + len(offsets) - 1)), Text: text}
		lines = p.AppendLine(lines)
	}
	// list writes a pickle with the offsets of the passages with these IDs.
	list := func(ids string) {
		t.Helper()
		data := []byte("\x80\x02}(")
		for _, id := range ids {
			data = append(data, 'X', 1, 0, 0, 0, byte(id), 'K', byte(offsets[id-'a']))
		}
		if err := os.WriteFile(filepath.Join(dir, "p.idx"), append(data, "u."...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "p.jsonl"), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	build := func(update bool) Info {
		t.Helper()
		found, err := leann.Find(filepath.Join(dir, "p.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return buildBook(t, dir, FromLEANN(found), BuildOptions{Update: update})
	}
	list("abc")
	if info := build(false); info.Passages != 3 || len(info.Skipped) > 0 {
		t.Errorf("%d passages, skipped %v", info.Passages, info.Skipped)
	}
	list("ac")
	if info, err := Inspect(dir); err != nil || info.Stale != "p.idx has changed since the index was built" {
		t.Errorf("stale: %q, %v", info.Stale, err)
	}
	want := []generation.Skipped{{Name: "p.jsonl", Reason: "passages removed by LEANN, which p.idx does not list: 1"}}
	for _, update := range []bool{true, false} {
		if info := build(update); info.Passages != 2 || !cmp.Equal(info.Skipped, want) {
			t.Errorf("update %t: %d passages, skipped %v", update, info.Passages, info.Skipped)
		}
		list("ac") // again, with another time
	}
	list("abc")
	if info := build(true); info.Passages != 3 || len(info.Skipped) > 0 {
		t.Errorf("restored: %d passages, skipped %v", info.Passages, info.Skipped)
	}
}
