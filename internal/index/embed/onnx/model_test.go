package onnx

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/onnx/onnxtest"
)

// write makes a model folder, with files beside those of the tiny model.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := onnxtest.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, files map[string]string, o Options) *Model {
	t.Helper()
	m, err := Open(write(t, files), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func near(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-5 {
			return false
		}
	}
	return true
}

// expected is what the tiny model makes of tokens, reckoned without a runtime.
func expected(p pooling, tokens ...int) []float32 {
	var all []float32
	for _, v := range onnxtest.Forward(tokens) {
		all = append(all, v...)
	}
	v := p.of(all, onnxtest.Dimensions)
	normalize(v)
	return v
}

// The tokens that the tiny model has.
const first, last, alpha, beta, gamma = onnxtest.First, onnxtest.Last, onnxtest.Alpha, onnxtest.Beta, onnxtest.Gamma

func TestEmbed(t *testing.T) {
	m := open(t, nil, Options{})
	if m.Dimensions() != onnxtest.Dimensions || !strings.HasPrefix(m.ID(), "onnx:tiny:") {
		t.Errorf("%d dimensions, ID %s", m.Dimensions(), m.ID())
	}
	long := strings.Repeat("alpha ", 40)
	texts := []string{"alpha", "", "beta gamma", long, "Beta, gamma", "gamma", "beta", "alpha beta", "gamma alpha", "what"}
	got, err := m.Embed(t.Context(), embed.Document, texts)
	if err != nil {
		t.Fatal(err)
	}
	forty := append([]int{first}, make([]int, 40)...)
	for i := range 40 {
		forty[i+1] = alpha
	}
	for i, want := range [][]int{{first, alpha, last}, {first, last}, {first, beta, gamma, last}, append(forty, last), {first, beta, onnxtest.Unknown, gamma, last},
		{first, gamma, last}, {first, beta, last}, {first, alpha, beta, last}, {first, gamma, alpha, last}, {first, onnxtest.Unknown, last}} {
		if want := expected(poolMean, want...); !near(got[i], want) {
			t.Errorf("%q: %v, want %v", texts[i], got[i], want)
		}
		// Alone it is the same as among others.
		alone, err := m.Embed(t.Context(), embed.Query, texts[i:i+1])
		if err != nil || !near(alone[0], got[i]) {
			t.Errorf("%q alone: %v, %v", texts[i], alone, err)
		}
	}
	if got, err := m.Embed(t.Context(), embed.Query, nil); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
}

func TestConfiguration(t *testing.T) {
	plain := open(t, nil, Options{})
	for _, tt := range []struct {
		name  string
		files map[string]string
		o     Options
		kind  embed.Kind
		text  string
		want  []float32
	}{
		{"first", map[string]string{"1_Pooling/config.json": `{"pooling_mode_cls_token": true}`}, Options{}, embed.Query, "alpha beta", expected(poolFirst, first, alpha, beta, last)},
		{"max", map[string]string{"1_Pooling/config.json": `{"pooling_mode_max_tokens": true}`}, Options{}, embed.Query, "alpha beta", expected(poolMax, first, alpha, beta, last)},
		{"last", map[string]string{"1_Pooling/config.json": `{"pooling_mode_lasttoken": true}`}, Options{}, embed.Query, "alpha beta", expected(poolLast, first, alpha, beta, last)},
		{"length", map[string]string{"sentence_bert_config.json": `{"max_seq_length": 4}`}, Options{}, embed.Query, "alpha beta gamma", expected(poolMean, first, alpha, beta, last)},
		{"the model's prompts", map[string]string{"config_sentence_transformers.json": `{"prompts": {"query": "gamma ", "passage": "beta "}}`}, Options{}, embed.Query, "alpha", expected(poolMean, first, gamma, alpha, last)},
		{"passages", map[string]string{"config_sentence_transformers.json": `{"prompts": {"query": "gamma ", "passage": "beta "}}`}, Options{}, embed.Document, "alpha", expected(poolMean, first, beta, alpha, last)},
		{"the user's prompts", map[string]string{"config_sentence_transformers.json": `{"prompts": {"query": "gamma "}}`}, Options{QueryTemplate: "{text} beta"}, embed.Query, "alpha", expected(poolMean, first, alpha, beta, last)},
		{"modules", map[string]string{"modules.json": `[{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Pooling"}, {"type": "sentence_transformers.models.Normalize"}]`},
			Options{}, embed.Query, "alpha", expected(poolMean, first, alpha, last)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := open(t, tt.files, tt.o)
			got, err := m.Embed(t.Context(), tt.kind, []string{tt.text})
			if err != nil || !near(got[0], tt.want) {
				t.Errorf("%v, %v, want %v", got, err, tt.want)
			}
			if same := m.ID() == plain.ID(); same != (tt.name == "modules") {
				t.Errorf("ID %s, the plain model's %s", m.ID(), plain.ID())
			}
		})
	}
}

func TestOpenRejects(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(write(t, nil), "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, text, want string }{
		{"no ONNX", "model.onnx", "hello", "onnx model in"},
		{"empty", "model.onnx", "", "onnx model in"},
		{"cut", "model.onnx", string(whole[:len(whole)/2]), "onnx model in"},
		{"other inputs", "model.onnx", strings.ReplaceAll(string(whole), "input_ids", "pixel_val"), "pixel_val"},
		{"unknown operation", "model.onnx", strings.ReplaceAll(string(whole), "MatMul", "Maybes"), "onnx model in"},
		{"circle", "model.onnx", strings.Replace(string(whole), "bias\n\x04axis", "wide\n\x04axis", 1), "which nothing before it makes"},
		{"tokenizer", "tokenizer.json", "{", "tokenizer.json"},
		{"dense layer", "modules.json", `[{"type": "sentence_transformers.models.Dense"}]`, "Dense"},
		{"pooling", "1_Pooling/config.json", "[]", "config.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Open(write(t, map[string]string{tt.file: tt.text}), Options{})
			if err == nil {
				m.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := Open(t.TempDir(), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}

func TestManyAtOnce(t *testing.T) {
	m := open(t, nil, Options{})
	want := expected(poolMean, first, alpha, beta, last)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				got, err := m.Embed(t.Context(), embed.Query, []string{"alpha beta"})
				if err != nil || !near(got[0], want) {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := m.Embed(t.Context(), embed.Query, []string{"alpha"}); err == nil {
		t.Error("a closed model gives vectors")
	}
}

// FuzzModel holds that no file makes the program fall.
func FuzzModel(f *testing.F) {
	dir := write(f, nil)
	whole, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x3a12))
	path := filepath.Join(dir, "model.onnx")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := Open(dir, Options{}); err == nil {
			m.Close()
		}
	})
}
