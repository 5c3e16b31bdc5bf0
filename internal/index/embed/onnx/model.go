// Package onnx computes vectors with a sentence-transformers model that was
// exported to ONNX, in this process and in Go alone: nothing to install, and
// slower by far than a server that knows the processor. It is for questions,
// and for passages by the thousand rather than by the million.
//
// The folder holds model.onnx or onnx/model.onnx, and tokenizer.json. Where it
// has them, sentence_bert_config.json says how many tokens the model takes,
// 1_Pooling/config.json how the tokens' vectors become one, and
// config_sentence_transformers.json what goes before questions and passages;
// else that is 512 tokens, their mean, and nothing. A model that goes on after
// the pooling with more than a normalisation is refused.
package onnx

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlcontext "github.com/gomlx/gomlx/pkg/ml/context"
	runtime "github.com/gomlx/onnx-gomlx/onnx"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/tokenizer"
)

const (
	defaultTokens = 512
	maxTokens     = 8192
	maxModel      = 2 << 30 // bytes; protobuf allows no more
	maxConfig     = 64 << 20
	// together is how many passages run through the model at once.
	together = 8
	// A graph is compiled for each shape that runs through it, so there are
	// few: texts are filled up to powers of two from shortest on.
	shortest = 16
)

// Options of a model. The zero value is the model's own way.
type Options struct {
	// The templates say what is embedded for a text. {text} stands for it;
	// without that, the template goes before the text.
	QueryTemplate    string
	DocumentTemplate string
}

// A Model is an open model. It may be used from several goroutines at once;
// they take turns, since one run keeps all processors busy.
type Model struct {
	id         string
	tokens     *tokenizer.Tokenizer
	most       int // tokens of a text
	pooling    pooling
	templates  [2]string // by embed.Kind
	dimensions int
	inputs     []string
	output     string // has a vector for each token or, if pooled, one in all
	pooled     bool

	mu      sync.Mutex
	backend backends.Backend
	context *mlcontext.Context
	run     *mlcontext.Exec
}

var _ embed.Provider = (*Model)(nil)

// Open opens the model in the folder dir, and reads all of it.
func Open(dir string, o Options) (*Model, error) {
	m := &Model{most: defaultTokens}
	err := guard(func() error { return m.open(dir, o) })
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("onnx model in %s: %w", dir, err)
	}
	return m, nil
}

func (m *Model) open(dir string, o Options) error {
	words, err := readLimited(filepath.Join(dir, "tokenizer.json"), maxConfig)
	if err != nil {
		return err
	}
	if m.tokens, err = tokenizer.Parse(words); err != nil {
		return fmt.Errorf("tokenizer.json: %w", err)
	}
	if err := m.configure(dir, o); err != nil {
		return err
	}
	data, err := readLimited(filepath.Join(dir, "model.onnx"), maxModel)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = readLimited(filepath.Join(dir, "onnx", "model.onnx"), maxModel)
	}
	if err != nil {
		return err
	}
	sum := fnv.New64a()
	sum.Write(words)
	sum.Write(data)
	fmt.Fprintf(sum, "%d %q %v", m.most, m.templates, m.pooling)
	m.id = fmt.Sprintf("onnx:%s:%016x", filepath.Base(dir), sum.Sum64())
	return m.load(data)
}

// load makes what runs the model.
func (m *Model) load(data []byte) error {
	parsed, err := runtime.Parse(data)
	if err != nil {
		return err
	}
	for _, name := range parsed.InputsNames {
		if !slices.Contains([]string{"input_ids", "attention_mask", "token_type_ids", "position_ids"}, name) {
			return fmt.Errorf("it has an input %q, which no text model for embeddings has", name)
		}
	}
	m.inputs = parsed.InputsNames
	if err := inOrder(parsed); err != nil {
		return err
	}
	if err := m.chooseOutput(parsed); err != nil {
		return err
	}
	m.context = mlcontext.New()
	if err := parsed.VariablesToContext(m.context); err != nil {
		return err
	}
	m.context = m.context.Reuse()
	if m.backend, err = simplego.New(""); err != nil {
		return err
	}
	m.run, err = mlcontext.NewExec(m.backend, m.context, func(ctx *mlcontext.Context, inputs []*graph.Node) []*graph.Node {
		named := make(map[string]*graph.Node, len(inputs))
		for i, name := range m.inputs {
			named[name] = inputs[i]
		}
		return parsed.CallGraph(ctx, inputs[0].Graph(), named, m.output)
	})
	if err != nil {
		return err
	}
	m.run.SetMaxCache(-1)
	// What the model cannot do shows when it is first run.
	v, err := m.forward([][]int{m.tokens.Encode("text", m.most)})
	if err != nil {
		return err
	}
	m.dimensions = len(v[0])
	return nil
}

// inOrder makes sure that every operation takes what came before it, as ONNX
// demands: the runtime would follow a circle for ever.
func inOrder(parsed *runtime.Model) error {
	known := make(map[string]bool)
	g := parsed.Proto.GetGraph()
	for _, in := range g.GetInput() {
		known[in.GetName()] = true
	}
	for _, constant := range g.GetInitializer() {
		known[constant.GetName()] = true
	}
	for _, node := range g.GetNode() {
		for _, name := range node.GetInput() {
			if name != "" && !known[name] {
				return fmt.Errorf("the operation %q takes %q, which nothing before it makes", node.GetName(), name)
			}
		}
		for _, a := range node.GetAttribute() {
			if a.GetG() != nil || len(a.GetGraphs()) > 0 {
				return fmt.Errorf("the operation %q has a graph of its own, which is not understood", node.GetName())
			}
		}
		for _, name := range node.GetOutput() {
			if name != "" && known[name] {
				return fmt.Errorf("the operation %q makes %q, which is there", node.GetName(), name)
			}
			known[name] = true
		}
	}
	return nil
}

// chooseOutput finds the output to use: one that the model has pooled itself,
// else the tokens' vectors, which come first.
func (m *Model) chooseOutput(parsed *runtime.Model) error {
	for i, shape := range parsed.OutputsShapes {
		name := parsed.OutputsNames[i]
		if name == "sentence_embedding" && len(shape.Dimensions) == 2 {
			m.output, m.pooled = name, true
			return nil
		}
		if m.output == "" && len(shape.Dimensions) == 3 {
			m.output = name
		}
	}
	if m.output == "" {
		return fmt.Errorf("none of its outputs (%s) is a vector for each token", strings.Join(parsed.OutputsNames, ", "))
	}
	return nil
}

// Close frees the model.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		m.run.Finalize()
	}
	if m.context != nil {
		m.context.Finalize()
	}
	if m.backend != nil {
		m.backend.Finalize()
	}
	m.run, m.context, m.backend = nil, nil, nil
	return nil
}

// ID names the model, and what is in it.
func (m *Model) ID() string { return m.id }

// Dimensions is the number of a vector's numbers.
func (m *Model) Dimensions() int { return m.dimensions }

// Embed returns the vectors of texts, of length 1.
func (m *Model) Embed(ctx context.Context, kind embed.Kind, texts []string) ([][]float32, error) {
	encoded := make([][]int, len(texts))
	order := make([]int, len(texts))
	for i, text := range texts {
		template := m.templates[kind]
		if strings.Contains(template, "{text}") {
			text = strings.ReplaceAll(template, "{text}", text)
		} else {
			text = template + text
		}
		encoded[i], order[i] = m.tokens.Encode(text, m.most), i
	}
	// Texts of one length together leave little to fill up.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(encoded[a]), len(encoded[b])) })
	vectors := make([][]float32, len(texts))
	for group := range slices.Chunk(order, together) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch := make([][]int, len(group))
		for i, n := range group {
			batch[i] = encoded[n]
		}
		var got [][]float32
		err := guard(func() (err error) {
			got, err = m.forward(batch)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.id, err)
		}
		for i, n := range group {
			vectors[n] = got[i]
		}
	}
	return vectors, nil
}

// forward runs the model on texts, at most together of them.
func (m *Model) forward(batch [][]int) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run == nil {
		return nil, errors.New("the model is closed")
	}
	rows, width := 1, shortest
	if len(batch) > 1 {
		rows = together
	}
	for _, tokens := range batch {
		for width < len(tokens) {
			width *= 2
		}
	}
	width = min(width, max(m.most, shortest))
	inputs := make([]any, len(m.inputs))
	for i, name := range m.inputs {
		inputs[i] = tensors.FromFlatDataAndDimensions(fill(name, batch, rows, width), rows, width)
	}
	outputs, err := m.run.Exec(inputs...)
	if err != nil {
		return nil, err
	}
	defer outputs[0].FinalizeAll()
	shape := outputs[0].Shape().Dimensions
	var vectors [][]float32
	err = tensors.ConstFlatData(outputs[0], func(flat []float32) {
		size := shape[len(shape)-1]
		for i, tokens := range batch {
			if m.pooled {
				vectors = append(vectors, slices.Clone(flat[i*size:(i+1)*size]))
				continue
			}
			row := flat[i*width*size : (i+1)*width*size]
			vectors = append(vectors, m.pooling.of(row[:len(tokens)*size], size))
		}
	})
	for _, v := range vectors {
		normalize(v)
	}
	return vectors, err
}

// fill makes one of the model's inputs. Rows beyond the batch are one token
// long: nobody looks at what becomes of them.
func fill(name string, batch [][]int, rows, width int) []int64 {
	data := make([]int64, rows*width)
	for r := range rows {
		tokens := []int{0}
		if r < len(batch) {
			tokens = batch[r]
		}
		row := data[r*width : (r+1)*width]
		for i := range row {
			switch {
			case name == "input_ids" && i < len(tokens):
				row[i] = int64(tokens[i])
			case name == "attention_mask" && i < len(tokens):
				row[i] = 1
			case name == "position_ids":
				row[i] = int64(i)
			}
		}
	}
	return data
}

// guard turns a panic, by which the runtime says much of what it has to say,
// into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the model cannot be run: %v", r)
		}
	}()
	return f()
}

func normalize(v []float32) {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	length := float32(max(math.Sqrt(squares), 1e-12))
	for i := range v {
		v[i] /= length
	}
}

// A pooling makes one vector of the tokens'.
type pooling int

const (
	poolMean pooling = iota
	poolFirst
	poolMax
	poolLast
)

// of pools vectors of the given size, of which there is one at least.
func (p pooling) of(tokens []float32, size int) []float32 {
	if len(tokens) == 0 {
		return make([]float32, size)
	}
	v := slices.Clone(tokens[:size])
	switch p {
	case poolLast:
		copy(v, tokens[len(tokens)-size:])
	case poolMax:
		for i, x := range tokens {
			v[i%size] = max(v[i%size], x)
		}
	case poolMean:
		for i, x := range tokens[size:] {
			v[i%size] += x
		}
		for i := range v {
			v[i] /= float32(len(tokens) / size)
		}
	}
	return v
}

// configure reads what sentence-transformers keeps beside a model.
func (m *Model) configure(dir string, o Options) error {
	var modules []struct {
		Type string `json:"type"`
	}
	if err := readConfig(dir, "modules.json", &modules); err != nil {
		return err
	}
	for _, module := range modules {
		switch kind := module.Type[strings.LastIndexByte(module.Type, '.')+1:]; kind {
		case "Transformer", "Pooling", "Normalize":
		default:
			return fmt.Errorf("modules.json has a module %q, which is not understood", kind)
		}
	}
	var length struct {
		Most int `json:"max_seq_length"`
	}
	if err := readConfig(dir, "sentence_bert_config.json", &length); err != nil {
		return err
	}
	if length.Most > 0 {
		m.most = min(length.Most, maxTokens)
	}
	var pool struct {
		First bool `json:"pooling_mode_cls_token"`
		Mean  bool `json:"pooling_mode_mean_tokens"`
		Max   bool `json:"pooling_mode_max_tokens"`
		Last  bool `json:"pooling_mode_lasttoken"`
	}
	if err := readConfig(dir, filepath.Join("1_Pooling", "config.json"), &pool); err != nil {
		return err
	}
	switch {
	case pool.Mean:
	case pool.First:
		m.pooling = poolFirst
	case pool.Max:
		m.pooling = poolMax
	case pool.Last:
		m.pooling = poolLast
	}
	var own struct {
		Prompts struct {
			Query    string `json:"query"`
			Document string `json:"document"`
			Passage  string `json:"passage"`
		} `json:"prompts"`
	}
	if err := readConfig(dir, "config_sentence_transformers.json", &own); err != nil {
		return err
	}
	m.templates[embed.Query] = cmp.Or(o.QueryTemplate, own.Prompts.Query)
	m.templates[embed.Document] = cmp.Or(o.DocumentTemplate, own.Prompts.Document, own.Prompts.Passage)
	return nil
}

// readConfig reads a file of JSON if there is one.
func readConfig(dir, name string, to any) error {
	data, err := readLimited(filepath.Join(dir, name), maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return data, err
}
