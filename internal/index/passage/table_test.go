package passage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
)

// sampleLines are passages of three documents in two files: one without an ID, two
// without a document.
var sampleLines = [][]string{
	{
		`{"id": "a1", "text": "one", "metadata": {"path": "a.md"}}`,
		`{"id": "b1", "text": "two", "metadata": {"url": "https://e.org/b#x"}}`,
		`{"id": "a2", "text": "three", "metadata": {"path": "a.md"}}`,
	},
	{
		`{"text": "four"}`,
		`{"id": "n", "text": "five"}`,
		`{"id": "b2", "text": "six", "metadata": {"url": "https://e.org/b#y"}}`,
	},
}

func writeTable(t testing.TB) generation.Generation {
	t.Helper()
	g := generation.Generation{Dir: confined.In(t.TempDir())}
	var w TableWriter
	for shard, lines := range sampleLines {
		var file []byte
		for _, line := range lines {
			p, err := Decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			w.Add(&p, shard, int64(len(file)), []byte(line))
			file = append(file, line+"\n"...)
		}
		if err := os.WriteFile(g.Path(ShardName(shard)), file, 0o644); err != nil {
			t.Fatal(err)
		}
		g.Files = append(g.Files, generation.FileInfo{Name: ShardName(shard)})
	}
	if err := w.Write(confined.Of(g.Path(TableName))); err != nil {
		t.Fatal(err)
	}
	return g
}

func openTable(t testing.TB, g generation.Generation) *Table {
	t.Helper()
	table, err := OpenTable(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

func TestTable(t *testing.T) {
	table := openTable(t, writeTable(t))
	if table.Passages() != 6 || table.Documents() != 4 {
		t.Errorf("%d passages of %d documents, want 6 of 4", table.Passages(), table.Documents())
	}
	for i, want := range []struct {
		id, text string
		document uint32
	}{{"a1", "one", 0}, {"b1", "two", 1}, {"a2", "three", 0}, {"3", "four", 2}, {"n", "five", 3}, {"b2", "six", 1}} {
		n := uint32(i)
		p, err := table.Passage(n)
		if err != nil || p.ID != want.id || p.Text != want.text {
			t.Errorf("passage %d: %q %q, %v; want %q %q", n, p.ID, p.Text, err, want.id, want.text)
		}
		if d, err := table.Document(n); err != nil || d != want.document {
			t.Errorf("document of %d: %d, %v; want %d", n, d, err, want.document)
		}
	}
	for d, want := range []struct{ key, members string }{
		{"a.md", "[0 2]"}, {"https://e.org/b", "[1 5]"}, {"", "[3]"}, {"", "[4]"},
	} {
		members, err := table.Members(uint32(d))
		if err != nil || fmt.Sprint(members) != want.members {
			t.Errorf("members of %d: %v, %v; want %s", d, members, err, want.members)
		}
		if key, err := table.Key(uint32(d)); err != nil || key != want.key {
			t.Errorf("key of %d: %q, %v; want %q", d, key, err, want.key)
		}
	}
	for id, want := range map[string]int{"a1": 0, "b2": 5, "n": 4, "absent": -1} {
		n, found, err := table.FindID(id)
		if err != nil || found != (want >= 0) || found && int(n) != want {
			t.Errorf("FindID(%q) = %d, %v, %v; want %d", id, n, found, err, want)
		}
	}
	for key, want := range map[string]int{"a.md": 0, "https://e.org/b": 1, "https://e.org/b#x": -1} {
		d, found, err := table.FindDocument(key)
		if err != nil || found != (want >= 0) || found && int(d) != want {
			t.Errorf("FindDocument(%q) = %d, %v, %v; want %d", key, d, found, err, want)
		}
	}
	if err := table.Verify(nil); err != nil {
		t.Error(err)
	}
	if _, err := table.Passage(6); err == nil {
		t.Error("passage 6 of 6 was read")
	}
}

// Other programs can modify the passages files. A changed passage is an error and is
// never returned.
func TestTableFindsPassagesChangedInPlace(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"rewritten": func(p string) error {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(p, bytes.Replace(data, []byte("one"), []byte("eno"), 1), 0o644)
		},
		"truncated": func(p string) error { return os.Truncate(p, 10) },
		"emptied":   func(p string) error { return os.Truncate(p, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			g := writeTable(t)
			table := openTable(t, g)
			if err := change(g.Path(ShardName(0))); err != nil {
				t.Fatal(err)
			}
			var corrupt *container.CorruptError
			if _, err := table.Passage(0); !errors.As(err, &corrupt) {
				t.Errorf("%v, want *container.CorruptError", err)
			}
			if err := table.Verify(nil); !errors.As(err, &corrupt) {
				t.Errorf("Verify: %v, want *container.CorruptError", err)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	g := writeTable(f)
	whole, err := os.ReadFile(g.Path(TableName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, whole[:64])
	f.Add(1, []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(4, []byte("\x00\x00\x00\x00\xff\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		names := []string{"passages", "docs", "members", "keyoffs", "keys", "ids", "keyhash"}
		mutant := generation.Generation{Dir: confined.In(t.TempDir())}
		mutate(t, g.Path(TableName), mutant.Path(TableName), tableKind, TableVersion, names, which, data)
		table, err := OpenTable(mutant)
		if err != nil {
			return
		}
		defer table.Close()
		for i := range uint32(table.Passages()) {
			table.Passage(i)
			table.Document(i)
		}
		for d := range uint32(table.Documents()) {
			table.Members(d)
			table.Key(d)
		}
		table.FindID("a1")
		table.FindDocument("a.md")
	})
}

// mutate copies a container. It overwrites the start of one section with data and
// recomputes the checksums, so that the checksums do not detect the change.
func mutate(t *testing.T, from, to, kind string, version int, names []string, which int, data []byte) {
	t.Helper()
	in, err := container.Open(confined.Of(from), kind, version)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := container.Create(confined.Of(to), kind, version)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		s, err := in.Section(name)
		if err != nil {
			t.Fatal(err)
		}
		old, err := s.All()
		if err != nil {
			t.Fatal(err)
		}
		if i == ((which%len(names))+len(names))%len(names) {
			changed := bytes.Clone(old)
			copy(changed, data)
			old = changed
		}
		out.Section(name)
		out.Write(old)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSortHashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, mask := range []uint64{math.MaxUint64, 7, 7 << 61, 0} {
		for _, n := range []int{0, 1, 2, 3, 1000} {
			var list []hashEntry
			for i := range n {
				list = append(list, hashEntry{rng.Uint64() & mask, uint32(n - i)})
			}
			got := sortHashes(list)
			slices.SortFunc(list, func(a, b hashEntry) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.n, b.n)) })
			if !slices.Equal(got, list) {
				t.Errorf("%d hashes of %x are not in order", n, mask)
			}
		}
	}
}
