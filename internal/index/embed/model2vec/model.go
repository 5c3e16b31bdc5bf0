// Package model2vec embeds texts with a static embedding model in a folder, as
// Model2Vec and sentence-transformers' StaticEmbedding write it: a table with one
// vector per token, and a tokenizer. A text's vector is the mean of its tokens'
// vectors. No neural network runs, so a text takes microseconds.
//
// The folder contains model.safetensors, tokenizer.json, and config.json or
// config_sentence_transformers.json. The table is the tensor embeddings or
// embedding.weight, of type F32, F16 or I8. Two tensors are optional: mapping
// (I32 or I64) has the vector index of each token, for models whose tokens share
// vectors. weights (F64, F32 or F16) has the weight of each token.
package model2vec

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/mmap"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/tokenizer"
)

// MaxTokens is the number of tokens at which a text is truncated, as by default
// in the reference implementation.
const MaxTokens = 512

const maxJSON = 256 << 20

// A Model is an open model. It is safe for concurrent use.
type Model struct {
	id        string
	file      *mmap.Mapping
	tokenizer *tokenizer.Tokenizer
	normalize bool
	table     tensor
	mapping   tensor // if absent, token i has vector i
	weights   tensor // if absent, every token weighs 1
}

var _ embed.Provider = (*Model)(nil)

// Open opens the model in the folder dir. It maps the table into memory.
func Open(dir string) (*Model, error) {
	m, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("model2vec model in %s: %w", dir, err)
	}
	return m, nil
}

func open(dir string) (_ *Model, err error) {
	m := &Model{}
	if m.normalize, err = readConfig(dir); err != nil {
		return nil, err
	}
	data, err := atomicfile.Read(filepath.Join(dir, "tokenizer.json"), maxJSON)
	if err != nil {
		return nil, err
	}
	if m.tokenizer, err = tokenizer.Parse(data); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	if m.file, err = mmap.Open(filepath.Join(dir, "model.safetensors")); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.file.Close()
		}
	}()
	header, err := m.open(m.file.Data)
	if err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}
	// The ID includes a hash, so that it changes when another model replaces
	// this one. For speed, the hash covers only the start of the table.
	sum := fnv.New64a()
	sum.Write(data)
	sum.Write(header)
	sum.Write(m.table.data[:min(len(m.table.data), 1<<16)])
	m.id = fmt.Sprintf("model2vec:%s:%016x", filepath.Base(dir), sum.Sum64())
	return m, nil
}

// readConfig reads whether the model normalizes its vectors. The default is true.
func readConfig(dir string) (normalize bool, err error) {
	for _, name := range []string{"config.json", "config_sentence_transformers.json"} {
		data, err := atomicfile.Read(filepath.Join(dir, name), maxJSON)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		var c struct {
			Normalize *bool `json:"normalize"`
		}
		if err := json.Unmarshal(data, &c); err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		if c.Normalize != nil {
			return *c.Normalize, nil
		}
	}
	return true, nil
}

// open finds and validates the tensors. It returns the bytes of the header.
func (m *Model) open(data []byte) ([]byte, error) {
	tensors, header, err := parseSafetensors(data)
	if err != nil {
		return nil, err
	}
	m.table = tensors["embeddings"]
	if m.table.data == nil {
		m.table = tensors["embedding.weight"]
	}
	m.mapping, m.weights = tensors["mapping"], tensors["weights"]
	tokens := m.tokenizer.Size()
	switch t := m.table; {
	case t.data == nil:
		return nil, errors.New("no tensor embeddings or embedding.weight")
	case len(t.shape) != 2 || t.shape[1] == 0:
		return nil, fmt.Errorf("the table of vectors has shape %v, want two dimensions", t.shape)
	case t.dtype != "F32" && t.dtype != "F16" && t.dtype != "I8":
		return nil, fmt.Errorf("the table of vectors has type %s, want F32, F16 or I8", t.dtype)
	case m.mapping.data == nil && t.shape[0] < tokens:
		return nil, fmt.Errorf("%d vectors for %d tokens", t.shape[0], tokens)
	}
	if t := m.mapping; t.data != nil {
		if t.dtype != "I32" && t.dtype != "I64" || len(t.shape) != 1 || t.shape[0] < tokens {
			return nil, fmt.Errorf("mapping has type %s and shape %v, want integers for %d tokens", t.dtype, t.shape,
				tokens)
		}
		for i := range tokens {
			if row := t.integer(i); row < 0 || row >= int64(m.table.shape[0]) {
				return nil, fmt.Errorf("mapping gives token %d vector %d of %d", i, row, m.table.shape[0])
			}
		}
	}
	if t := m.weights; t.data != nil &&
		(t.dtype != "F64" && t.dtype != "F32" && t.dtype != "F16" || len(t.shape) != 1 || t.shape[0] < tokens) {
		return nil, fmt.Errorf("weights have type %s and shape %v, want floats for %d tokens", t.dtype, t.shape, tokens)
	}
	return header, nil
}

// Close closes the model.
func (m *Model) Close() error { return m.file.Close() }

// ID returns the folder's name and a hash of the model.
func (m *Model) ID() string { return m.id }

// Dimensions returns the dimensionality of the vectors.
func (m *Model) Dimensions() int { return m.table.shape[1] }

// Embed returns the vectors of texts. It ignores the kind: a static model treats
// queries and documents alike.
func (m *Model) Embed(ctx context.Context, _ embed.Kind, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = m.Vector(text)
	}
	return vectors, nil
}

// Vector returns the vector of a text. It is zero if no token is known.
func (m *Model) Vector(text string) []float32 {
	d := m.Dimensions()
	sum := make([]float64, d)
	tokens := m.tokenizer.Tokens(text)
	for _, token := range tokens[:min(len(tokens), MaxTokens)] {
		row, weight := token, 1.0
		if m.mapping.data != nil {
			row = int(m.mapping.integer(token))
		}
		if m.weights.data != nil {
			weight = m.weights.float(token)
		}
		for i := range sum {
			sum[i] += weight * m.table.float(row*d+i)
		}
	}
	length := float64(max(1, min(len(tokens), MaxTokens)))
	if m.normalize {
		var squares float64
		for _, x := range sum {
			squares += x * x
		}
		length = max(math.Sqrt(squares), 1e-12)
	}
	v := make([]float32, d)
	for i, x := range sum {
		v[i] = float32(x / length)
	}
	return v
}

// A tensor is an array in a safetensors file.
type tensor struct {
	dtype string
	shape []int
	data  []byte
}

// dtypeSizes are the sizes of the types that models use, in bytes.
var dtypeSizes = map[string]int64{"F64": 8, "F32": 4, "F16": 2, "I64": 8, "I32": 4, "I8": 1}

// parseSafetensors parses a safetensors file: the header's length in eight bytes,
// then JSON with the type, shape and offsets of each tensor, then the tensors. It
// skips tensors of types that no model uses, and returns the header too.
func parseSafetensors(data []byte) (map[string]tensor, []byte, error) {
	if len(data) < 8 {
		return nil, nil, errors.New("the file is too small")
	}
	n := binary.LittleEndian.Uint64(data)
	if n > uint64(len(data)-8) || n > maxJSON {
		return nil, nil, fmt.Errorf("a header of %d bytes does not fit the file", n)
	}
	header, data := data[8:8+n], data[8+n:]
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	tensors := make(map[string]tensor)
	for name, raw := range entries {
		if strings.HasPrefix(name, "__") {
			continue
		}
		var e struct {
			Kind    string   `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		bytes, used := dtypeSizes[e.Kind]
		if !used {
			continue
		}
		for _, dim := range e.Shape {
			if dim < 0 || int64(dim) > int64(len(data)) || dim > 0 && bytes > int64(len(data))/int64(dim) {
				return nil, nil, fmt.Errorf("tensor %s has shape %v in %d bytes", name, e.Shape, len(data))
			}
			bytes *= int64(dim)
		}
		from, to := e.Offsets[0], e.Offsets[1]
		if from < 0 || to < from || to > int64(len(data)) || to-from != bytes {
			return nil, nil, fmt.Errorf("tensor %s has the bytes %d to %d of %d, want %d bytes", name, from, to, len(data),
				bytes)
		}
		tensors[name] = tensor{e.Kind, e.Shape, data[from:to:to]}
	}
	return tensors, header, nil
}

// float returns element i of a tensor of floats or bytes.
func (t tensor) float(i int) float64 {
	switch t.dtype {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "F16":
		return float16(binary.LittleEndian.Uint16(t.data[2*i:]))
	}
	return float64(int8(t.data[i]))
}

// integer returns element i of a tensor of integers.
func (t tensor) integer(i int) int64 {
	if t.dtype == "I64" {
		return int64(binary.LittleEndian.Uint64(t.data[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
}

// float16 decodes an IEEE 754 half-precision number.
func float16(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if b>>15 != 0 {
		v = -v
	}
	return v
}
