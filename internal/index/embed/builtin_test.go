package embed

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/index/kernel"
)

// passages are n texts about a few topics, whose words never meet across
// topics but through the common ones.
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

// train builds a model of n passages and opens it again.
func train(t testing.TB, n int) (*Model, *Builtin, []byte) {
	t.Helper()
	m, err := Train(t.Context(), n, passages(n), Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "embedder.bin")
	if err := m.Write(path); err != nil {
		t.Fatal(err)
	}
	b, err := OpenBuiltin(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return m, b, data
}

func TestTopicsAreNear(t *testing.T) {
	const n = 700
	m, b, _ := train(t, n)
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
			if near := kernel.Dot(q, v) > 0.3; near != (i%7 == topic) {
				t.Errorf("topic %d, passage %d of topic %d: cosine %.3f", topic, i, i%7, kernel.Dot(q, v))
			}
		}
	}
}

func TestQueryOfUnknownTerms(t *testing.T) {
	_, b, _ := train(t, 100)
	for _, q := range [][]string{nil, {}, {"unheard"}, {""}, {"~~~", "zzz"}} {
		if v, err := b.Query(q); v != nil || err != nil {
			t.Errorf("Query(%q) = %v, %v, want nothing", q, v, err)
		}
	}
}

func TestEqualPassagesMakeEqualBytes(t *testing.T) {
	_, _, want := train(t, 500)
	for range 3 {
		if _, _, got := train(t, 500); !bytes.Equal(got, want) {
			t.Fatal("the same passages made another model")
		}
	}
}

func TestFewPassages(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3} {
		m, b, _ := train(t, n)
		v := make([]float32, m.Dimensions())
		for i := range n {
			if err := m.Vector(i, v); err != nil {
				t.Error(err)
			}
		}
		if _, err := b.Query([]string{"the", "t0w1"}); err != nil {
			t.Error(err)
		}
	}
}
