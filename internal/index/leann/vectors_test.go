package leann

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/leann/leanntest"
)

// sample makes n vectors of d dimensions with distinct numbers.
func sample(n, d int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, d)
		for j := range vectors[i] {
			vectors[i][j] = float32(i*d+j) + 0.5
		}
	}
	return vectors
}

// storedIndex writes an index with the given files next to its meta file.
func storedIndex(t testing.TB, meta string, files map[string]string) *Index {
	t.Helper()
	dir := t.TempDir()
	if meta == "" {
		meta = `{"version": "1.0", "backend_name": "hnsw"}`
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"documents.leann.meta.json":      meta,
		"documents.leann.passages.jsonl": `{"id": "0", "text": "a", "metadata": {}}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestVectors(t *testing.T) {
	// The lengths of the lists of 255 and 256 vectors begin with the bytes that
	// mark a format.
	for _, n := range []int{1, 2, 100, 254, 255, 256, 257, 511, 512} {
		for _, form := range []leanntest.Form{leanntest.Marked, leanntest.Plain, leanntest.Compact, leanntest.CompactAgain} {
			t.Run(fmt.Sprint(n, "/", form), func(t *testing.T) {
				want := sample(n, 5)
				v, err := storedIndex(t, "", map[string]string{"documents.index": string(leanntest.FAISS(want, form))}).OpenVectors()
				if err != nil {
					t.Fatal(err)
				}
				defer v.Close()
				if v.Len() != n || v.Dimensions() != 5 {
					t.Fatalf("%d vectors of %d dimensions", v.Len(), v.Dimensions())
				}
				got := make([][]float32, n)
				for i := range got {
					got[i] = make([]float32, 5)
					if err := v.Vector(i, got[i]); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if label, ok := v.Label("x", n-1); label != n-1 || !ok {
					t.Errorf("label %d, %t", label, ok)
				}
				if _, ok := v.Label("x", n); ok {
					t.Error("a passage after the last vector has a vector")
				}
			})
		}
	}
}

func TestVectorsOfIDs(t *testing.T) {
	v, err := storedIndex(t, "", map[string]string{
		"documents.index":   string(leanntest.FAISS(sample(3, 2), leanntest.Marked)),
		"documents.ids.txt": "b\r\nc\na",
	}).OpenVectors()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for id, want := range map[string]int{"a": 2, "b": 0, "c": 1, "d": -1} {
		label, ok := v.Label(id, 0)
		if ok != (want >= 0) || ok && label != want {
			t.Errorf("%s: label %d, %t, want %d", id, label, ok, want)
		}
	}
}

func TestNoVectors(t *testing.T) {
	whole := string(leanntest.FAISS(sample(4, 3), leanntest.Marked))
	for _, tt := range []struct {
		name, meta string
		files      map[string]string
		want       string // "": ErrNoVectors
	}{
		{name: "no file"},
		{name: "pruned", files: map[string]string{"documents.index": string(leanntest.FAISS(sample(4, 3), leanntest.Pruned))}},
		{name: "pruned, compact", files: map[string]string{"documents.index": string(leanntest.FAISS(sample(4, 3), leanntest.CompactPruned))}},
		{name: "another backend", meta: `{"backend_name": "diskann"}`, files: map[string]string{"documents.index": whole}},
		{name: "another kind", files: map[string]string{"documents.index": "IwFl" + whole[4:]}},
		{name: "empty", files: map[string]string{"documents.index": ""}},
		{name: "head alone", files: map[string]string{"documents.index": whole[:20]}, want: "corrupt header of the FAISS file"},
		{name: "cut", files: map[string]string{"documents.index": whole[:len(whole)-1]}, want: "corrupt or unsupported FAISS file"},
		{name: "longer", files: map[string]string{"documents.index": whole + "x"}, want: "corrupt or unsupported FAISS file"},
		{name: "a list without end", files: map[string]string{"documents.index": strings.Replace(whole, "\x06\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff", 1)},
			want: "corrupt header of the FAISS file"},
		{name: "too few ids", files: map[string]string{"documents.index": whole, "documents.ids.txt": "a\nb\n"}, want: "names 2 passages, the index has 4 vectors"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := storedIndex(t, tt.meta, tt.files).OpenVectors()
			if tt.want == "" && !errors.Is(err, ErrNoVectors) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestEmbeddingOptions(t *testing.T) {
	x := storedIndex(t, `{"embedding_model": "m", "embedding_mode": "openai", "embedding_options": {"api_key": "k"}}`, nil)
	if o, err := x.EmbeddingOptions(); err != nil || string(o) != `{"api_key": "k"}` || x.Meta.EmbeddingMode != "openai" {
		t.Errorf("options %s, %v, mode %s", o, err, x.Meta.EmbeddingMode)
	}
	if o, err := storedIndex(t, "", nil).EmbeddingOptions(); err != nil || o != nil {
		t.Errorf("options %s, %v", o, err)
	}
}

func FuzzVectors(f *testing.F) {
	for _, form := range []leanntest.Form{leanntest.Marked, leanntest.Plain, leanntest.Compact, leanntest.CompactAgain, leanntest.Pruned, leanntest.CompactPruned} {
		data := leanntest.FAISS(sample(3, 2), form)
		f.Add(data)
		// A metric with an argument.
		long := slices.Clone(data)
		binary.LittleEndian.PutUint32(long[33:], 2)
		f.Add(slices.Insert(long, 37, 0, 0, 0, 0))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, d, vectors, err := parseVectors(data)
		if err == nil && (d < 1 || len(vectors) != 4*n*d) {
			t.Fatalf("%d vectors of %d dimensions in %d bytes", n, d, len(vectors))
		}
	})
}
