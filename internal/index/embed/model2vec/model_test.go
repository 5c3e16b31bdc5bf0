package model2vec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/tokenizer"
)

// fixtures has models and the reference implementation's vectors. It is not part
// of the repository.
const fixtures = "../../../../../shared/model2vec-fixtures"

func reference(t *testing.T, name string) []float32 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Skipf("no fixtures here: %v", err)
	}
	var v [][]float32
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func TestReferenceVectors(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("hello ", 1000))
	for _, tt := range []struct {
		model, want, text string
		tolerance         float64
	}{
		{"test-model-float32", "embeddings_short.json", "hello world", 1e-5},
		{"test-model-float32", "embeddings_long.json", long, 1e-5},
		{"test-model-sentence-transformers", "embeddings_short.json", "hello world", 1e-5},
		{"test-model-sentence-transformers", "embeddings_long.json", long, 1e-5},
		{"test-model-vocab-quantized", "embeddings_vocab_quantized.json", long, 1e-5},
		{"test-model-float16", "embeddings_short.json", "hello world", 2e-3},
		{"test-model-float16", "embeddings_long.json", long, 2e-3},
		{"test-model-int8", "embeddings_short.json", "hello world", 3e-2},
		{"test-model-int8", "embeddings_long.json", long, 3e-2},
	} {
		t.Run(tt.model+" "+tt.text[:11], func(t *testing.T) {
			want := reference(t, tt.want)
			m, err := Open(filepath.Join(fixtures, tt.model))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			got := m.Vector(tt.text)
			if len(got) != len(want) {
				t.Fatalf("%d dimensions, want %d", len(got), len(want))
			}
			for i := range got {
				if math.Abs(float64(got[i]-want[i])) > tt.tolerance*max(math.Abs(float64(want[i])), 1e-2) {
					t.Errorf("number %d is %v, want %v", i, got[i], want[i])
				}
			}
		})
	}
}

// write writes a model to a new folder.
func write(t testing.TB, tokenizer string, tensors map[string]tensor, config string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"tokenizer.json": []byte(tokenizer), "model.safetensors": encodeTensors(t, tensors), "config.json": []byte(config),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func encodeTensors(t testing.TB, tensors map[string]tensor) []byte {
	t.Helper()
	type entry struct {
		Kind    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		x := tensors[name]
		header[name] = entry{x.dtype, x.shape, [2]int{len(data), len(data) + len(x.data)}}
		data = append(data, x.data...)
	}
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h, data)
}

func floats(shape []int, v ...float32) tensor {
	x := tensor{dtype: "F32", shape: shape}
	for _, f := range v {
		x.data = binary.LittleEndian.AppendUint32(x.data, math.Float32bits(f))
	}
	return x
}

func TestMappingAndWeights(t *testing.T) {
	const tokenizer = `{"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 1, "b": 2}}}`
	dir := write(t, tokenizer, map[string]tensor{
		"embeddings": floats([]int{2, 2}, 1, 0, 0, 1),
		"mapping":    {dtype: "I32", shape: []int{3}, data: []byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}},
		"weights":    floats([]int{3}, 9, 1, 3),
		"other":      {dtype: "BOOL", shape: []int{1}, data: []byte{1}},
	}, `{"normalize": false}`)
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got, err := m.Embed(t.Context(), embed.Query, []string{"a b", "b", "what"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1.5, 0.5}, {3, 0}, {0, 0}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if m.Dimensions() != 2 || !strings.HasPrefix(m.ID(), "model2vec:") {
		t.Errorf("%d dimensions, ID %s", m.Dimensions(), m.ID())
	}
}

func TestOpenRejects(t *testing.T) {
	const tokenizer = `{"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 1}}}`
	good := floats([]int{2, 1}, 1, 2)
	for _, tt := range []struct {
		name, tokenizer, config string
		tensors                 map[string]tensor
		want                    string
	}{
		{"BPE", `{"model": {"type": "BPE"}}`, "{}", map[string]tensor{"embeddings": good}, "BPE"},
		{"no model", `{}`, "{}", map[string]tensor{"embeddings": good}, "no model"},
		{"invalid JSON", `{`, "{}", map[string]tensor{"embeddings": good}, "tokenizer.json"},
		{"unknown normalizer", `{"normalizer": {"type": "Odd"}}`, "{}", map[string]tensor{"embeddings": good}, "Odd"},
		{"unknown pre_tokenizer", `{"pre_tokenizer": {"type": "Odd"}}`, "{}", map[string]tensor{"embeddings": good}, "Odd"},
		{"bad config", tokenizer, "[]", map[string]tensor{"embeddings": good}, "config.json"},
		{"no table", tokenizer, "{}", map[string]tensor{"weights": good}, "embeddings"},
		{"few vectors", tokenizer, "{}", map[string]tensor{"embeddings": floats([]int{1, 1}, 1)}, "1 vectors for 2 tokens"},
		{"flat table", tokenizer, "{}", map[string]tensor{"embeddings": floats([]int{2}, 1, 2)}, "shape"},
		{"table of integers", tokenizer, "{}", map[string]tensor{"embeddings": {dtype: "I32", shape: []int{2, 1}, data: make([]byte, 8)}}, "I32"},
		{"wild mapping", tokenizer, "{}", map[string]tensor{"embeddings": good,
			"mapping": {dtype: "I32", shape: []int{2}, data: []byte{0, 0, 0, 0, 9, 0, 0, 0}}}, "vector 9 of 2"},
		{"short weights", tokenizer, "{}", map[string]tensor{"embeddings": good, "weights": floats([]int{1}, 1)}, "weights"},
		{"other length", tokenizer, "{}", map[string]tensor{"embeddings": {dtype: "F32", shape: []int{2, 1}, data: make([]byte, 7)}}, "shape [2 1] in 7 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Open(write(t, tt.tokenizer, tt.tensors, tt.config))
			if err == nil {
				m.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}

func TestHalf(t *testing.T) {
	for _, tt := range []struct {
		bits uint16
		want float64
	}{{0, 0}, {0x3c00, 1}, {0xc000, -2}, {0x3555, 0.333251953125}, {0x7bff, 65504}, {1, 5.960464477539063e-8}, {0x7c00, math.Inf(1)}, {0xfc00, math.Inf(-1)}} {
		if got := float16(tt.bits); got != tt.want {
			t.Errorf("%#x is %v, want %v", tt.bits, got, tt.want)
		}
	}
	if !math.IsNaN(float16(0x7e00)) {
		t.Error("0x7e00 is a number")
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(encodeTensors(f, map[string]tensor{"embeddings": floats([]int{2, 1}, 1, 2), "mapping": {dtype: "I32", shape: []int{2}, data: make([]byte, 8)}}))
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, '{', '}'})
	tok, err := tokenizer.Parse([]byte(`{"model": {"vocab": {"[UNK]": 0, "a": 1}}}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &Model{tokenizer: tok}
		if _, err := m.open(data); err == nil {
			m.Vector("a")
		}
	})
}

func BenchmarkVector(b *testing.B) {
	m, err := Open(filepath.Join(fixtures, "test-model-float32"))
	if err != nil {
		b.Skip(err)
	}
	defer m.Close()
	text := strings.Repeat("the quick brown fox configures an index of documentation ", 16)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Vector(text)
	}
}
