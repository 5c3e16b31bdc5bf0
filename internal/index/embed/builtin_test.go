package embed

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// passages makes n texts about a few topics. Texts of different topics share
// only common words.
func passages(n int) func(int) ([]string, error) {
	return func(i int) ([]string, error) {
		topic := i % 7
		list := []string{"the", "of"}
		x := uint32(i)*2654435761 + 1
		for range 40 {
			x = x*1664525 + 1013904223
			list = append(list, fmt.Sprintf("t%dw%d", topic, x>>8%30))
			if x>>28 == 0 {
				list = append(list, fmt.Sprintf("common%d", x>>8%50))
			}
		}
		return list, nil
	}
}

// trained trains a model on n passages and returns it, its opened file, and the
// file's bytes.
func trained(t testing.TB, n int) (*Model, *Builtin, []byte) {
	t.Helper()
	m, err := Train(context.Background(), n, passages(n), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, m)
	data, err := os.ReadFile(b.file.Path())
	if err != nil {
		t.Fatal(err)
	}
	return m, b, data
}

func open(t testing.TB, m *Model) *Builtin {
	t.Helper()
	path := filepath.Join(t.TempDir(), "embedder.bin")
	if err := m.Write(confined.Of(path)); err != nil {
		t.Fatal(err)
	}
	b, err := OpenBuiltin(confined.Of(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := b.Verify(nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTopicsAreClose(t *testing.T) {
	const n = 700
	m, b, _ := trained(t, n)
	v := make([]float32, m.Dimensions())
	for topic := range 7 {
		q, err := b.Query([]string{fmt.Sprintf("t%dw1", topic), fmt.Sprintf("t%dw2", topic), "unheard"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := m.Vector(i, v); err != nil {
				t.Fatal(err)
			}
			if near := vecmath.Dot(q, v) > 0.3; near != (i%7 == topic) {
				t.Errorf("topic %d, passage %d of topic %d: cosine %.3f", topic, i, i%7, vecmath.Dot(q, v))
			}
		}
	}
}

func TestQueryOfUnknownTerms(t *testing.T) {
	_, b, _ := trained(t, 400)
	for _, q := range [][]string{nil, {}, {"unheard"}, {""}, {"~~~", "zzz"}} {
		if v, err := b.Query(q); v != nil || err != nil {
			t.Errorf("Query(%q) = %v, %v, want nothing", q, v, err)
		}
	}
}

func TestEqualPassagesMakeEqualBytes(t *testing.T) {
	_, _, want := trained(t, 500)
	for _, threads := range []int{1, 2, 7} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		if _, _, got := trained(t, 500); !bytes.Equal(got, want) {
			t.Fatal("equal passages, different models")
		}
	}
}

func TestTooFewPassages(t *testing.T) {
	for _, n := range []int{0, 1, MinPassages - 1} {
		m, err := Train(t.Context(), n, passages(n), nil)
		if m != nil || err != nil {
			t.Errorf("%d passages: %v, %v, want nothing", n, m, err)
		}
	}
}

// TestDegeneratePassages tests texts whose matrices have a lower rank than the
// number of dimensions.
func TestDegeneratePassages(t *testing.T) {
	for name, terms := range map[string]func(int) ([]string, error){
		"no terms":       func(int) ([]string, error) { return nil, nil },
		"no term twice":  func(i int) ([]string, error) { return []string{fmt.Sprint(i)}, nil },
		"one term":       func(int) ([]string, error) { return []string{"a"}, nil },
		"equal passages": func(int) ([]string, error) { return []string{"a", "b", "a", "c"}, nil },
		"two groups":     func(i int) ([]string, error) { return []string{fmt.Sprint(i % 2), fmt.Sprint(i%2 + 2)}, nil },
		"long terms":     func(int) ([]string, error) { return []string{strings.Repeat("a", 1000), ""}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Train(t.Context(), MinPassages, terms, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := open(t, m)
			q, err := b.Query([]string{"a", "b", "0", "1", "2"})
			if err != nil {
				t.Fatal(err)
			}
			v := make([]float32, m.Dimensions())
			if err := m.Vector(7, v); err != nil {
				t.Fatal(err)
			}
			for _, x := range append(q, v...) {
				if x != x || x > 1 || x < -1 {
					t.Fatalf("a number is %v", x)
				}
			}
		})
	}
}

func TestTrainReturnsTheReadersError(t *testing.T) {
	gone := errors.New("gone")
	_, err := Train(t.Context(), 1000, func(i int) ([]string, error) {
		if i == 777 {
			return nil, gone
		}
		return []string{"a"}, nil
	}, nil)
	if !errors.Is(err, gone) {
		t.Errorf("error %v, want %v", err, gone)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, 1000, passages(1000), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestPassagesBeyondTheSample(t *testing.T) {
	const n = 1000
	all, err := train(t.Context(), n, passages(n), nil, n)
	if err != nil {
		t.Fatal(err)
	}
	some, err := train(t.Context(), n, passages(n), nil, n/2)
	if err != nil {
		t.Fatal(err)
	}
	if len(some.bags) != n/2 {
		t.Fatalf("%d passages trained the model, want %d", len(some.bags), n/2)
	}
	b := open(t, some)
	v, u := make([]float32, dimensions), make([]float32, dimensions)
	for i := range n {
		if err := errors.Join(all.Vector(i, v), some.Vector(i, u)); err != nil {
			t.Fatal(err)
		}
		q, err := b.Query([]string{fmt.Sprintf("t%dw1", i%7)})
		if err != nil {
			t.Fatal(err)
		}
		if vecmath.Dot(q, u) < 0.3 {
			t.Errorf("passage %d: cosine with its topic is %.3f", i, vecmath.Dot(q, u))
		}
	}
}

func TestCorruptionIsDetected(t *testing.T) {
	_, _, data := trained(t, 400)
	path := filepath.Join(t.TempDir(), "embedder.bin")
	damaged := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := OpenBuiltin(confined.Of(path))
		if err == nil {
			err = b.Verify(nil)
			b.Close()
		}
		var corrupt *container.CorruptError
		var version *container.VersionError
		if !errors.As(err, &corrupt) && !errors.As(err, &version) {
			t.Errorf("error %v, want damage", err)
		}
	}
	for at := 0; at < len(data); at += 997 {
		flipped := slices.Clone(data)
		flipped[at] ^= 0x10
		damaged(flipped)
		damaged(data[:at])
	}
}

// FuzzBuiltin opens models with valid checksums and corrupt contents.
func FuzzBuiltin(f *testing.F) {
	le := binary.LittleEndian
	head := le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 2), lsaDimensions), ppmiDimensions), 0)
	at := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 0), 1), 2)
	f.Add(head, at, []byte("ab"), make([]byte, 2*rowSize))
	f.Add(head, at, []byte("ba"), bytes.Repeat([]byte{0xff}, 2*rowSize))
	f.Add(head, le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 1), 0), 9), []byte("ab"), make([]byte, 2*rowSize))
	f.Add([]byte{}, []byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, head, at, terms, rows []byte) {
		path := filepath.Join(t.TempDir(), "embedder.bin")
		w, err := container.Create(confined.Of(path), builtinKind, BuiltinVersion)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"head": head, "termat": at, "terms": terms, "rows": rows} {
			w.Section(name)
			w.Write(data)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := OpenBuiltin(confined.Of(path))
		if err != nil {
			return
		}
		defer b.Close()
		v, err := b.Query([]string{"a", "b", "c", "a"})
		for _, x := range v {
			if err != nil || x != x || x > 1 || x < -1 {
				t.Fatalf("%v, error %v", v, err)
			}
		}
	})
}
