// Package onnxtest writes a tiny model for tests: a folder as
// sentence-transformers exports one, in which all is there that such a model
// is made of but the size.
package onnxtest

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
)

// Dimensions is the number of a vector's numbers.
const Dimensions = 4

// The tokens that the model knows.
const (
	Unknown = iota
	First
	Last
	Alpha
	Beta
	Gamma
	vocabulary
)

const tokenizerJSON = `{"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"post_processor": {"type": "TemplateProcessing",
		"single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
		"special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1]}, "[SEP]": {"id": "[SEP]", "ids": [2]}}},
	"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "alpha": 3, "beta": 4, "gamma": 5}}}`

// Write makes the folder dir with the model in it.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(tokenizerJSON), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "model.onnx"), model(), 0o600)
}

// table has the tokens' vectors, projection the matrix that they go through.
func table() []float32 {
	var t []float32
	for token := range vocabulary {
		for i := range Dimensions {
			t = append(t, float32(math.Sin(float64(3*token+5*i+1))))
		}
	}
	return t
}

func projection() []float32 {
	var p []float32
	for i := range Dimensions * Dimensions {
		p = append(p, float32(math.Cos(float64(7*i))))
	}
	return p
}

// Forward is what the model makes of tokens, a vector each: each looks at all
// others, and what it sees is projected and squashed.
func Forward(tokens []int) [][]float32 {
	vectors, matrix := table(), projection()
	x := make([][]float64, len(tokens))
	for i, token := range tokens {
		for _, v := range vectors[token*Dimensions : (token+1)*Dimensions] {
			x[i] = append(x[i], float64(v))
		}
	}
	out := make([][]float32, len(tokens))
	for i := range x {
		var seen [Dimensions]float64
		var total float64
		for j := range x {
			var dot float64
			for k := range Dimensions {
				dot += x[i][k] * x[j][k]
			}
			weight := math.Exp(dot)
			total += weight
			for k := range Dimensions {
				seen[k] += weight * x[j][k]
			}
		}
		for k := range Dimensions {
			var sum float64
			for l := range Dimensions {
				sum += seen[l] / total * float64(matrix[l*Dimensions+k])
			}
			out[i] = append(out[i], float32(math.Tanh(sum)))
		}
	}
	return out
}

// model is the same as ONNX: attention that the mask keeps off what is only
// there to fill up.
func model() []byte {
	var g message
	g = g.node("Gather", []string{"table", "input_ids"}, "x")
	g = g.node("Transpose", []string{"x"}, "xt", attribute("perm", 0, 2, 1))
	g = g.node("MatMul", []string{"x", "xt"}, "dots")
	g = g.node("Cast", []string{"attention_mask"}, "mask", integer("to", float))
	g = g.node("Sub", []string{"mask", "one"}, "absent")
	g = g.node("Mul", []string{"absent", "big"}, "bias")
	g = g.node("Unsqueeze", []string{"bias", "axis"}, "wide")
	g = g.node("Add", []string{"dots", "wide"}, "kept")
	g = g.node("Softmax", []string{"kept"}, "weights", integer("axis", -1))
	g = g.node("MatMul", []string{"weights", "x"}, "seen")
	g = g.node("MatMul", []string{"seen", "projection"}, "projected")
	g = g.node("Tanh", []string{"projected"}, "last_hidden_state")
	g = g.text(2, "tiny")
	g = g.floats("table", table(), vocabulary, Dimensions)
	g = g.floats("projection", projection(), Dimensions, Dimensions)
	g = g.floats("one", []float32{1})
	g = g.floats("big", []float32{1e9})
	g = g.longs("axis", 1)
	g = g.value(11, "input_ids", int64s, "batch", "length")
	g = g.value(11, "attention_mask", int64s, "batch", "length")
	g = g.value(12, "last_hidden_state", float, "batch", "length", "size")
	var m message
	m = m.number(1, 8)                    // version of the format
	m = m.sub(8, message{}.number(2, 17)) // of the operations
	return m.sub(7, g)
}

// Types of ONNX's tensors.
const (
	float  = 1
	int64s = 7
)

// A message is one of protobuf's, in the making.
type message []byte

func (m message) number(field int, n int64) message {
	m = binary.AppendUvarint(m, uint64(field)<<3)
	return binary.AppendUvarint(m, uint64(n))
}

func (m message) sub(field int, s message) message {
	m = binary.AppendUvarint(m, uint64(field)<<3|2)
	m = binary.AppendUvarint(m, uint64(len(s)))
	return append(m, s...)
}

func (m message) text(field int, s string) message { return m.sub(field, message(s)) }

func (m message) node(operation string, inputs []string, output string, attributes ...message) message {
	var n message
	for _, in := range inputs {
		n = n.text(1, in)
	}
	n = n.text(2, output).text(3, output).text(4, operation)
	for _, a := range attributes {
		n = n.sub(5, a)
	}
	return m.sub(1, n)
}

// integer and attribute are attributes of a node: a number, and a list.
func integer(name string, n int64) message {
	const kind = 2
	return message{}.text(1, name).number(3, n).number(20, kind)
}

func attribute(name string, list ...int64) message {
	const kind = 7
	m := message{}.text(1, name)
	for _, n := range list {
		m = m.number(8, n)
	}
	return m.number(20, kind)
}

func (m message) floats(name string, values []float32, shape ...int64) message {
	var raw message
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return m.tensor(name, float, raw, shape)
}

func (m message) longs(name string, values ...int64) message {
	var raw message
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return m.tensor(name, int64s, raw, []int64{int64(len(values))})
}

func (m message) tensor(name string, kind int64, raw message, shape []int64) message {
	var t message
	for _, n := range shape {
		t = t.number(1, n)
	}
	return m.sub(5, t.number(2, kind).text(8, name).sub(9, raw))
}

// value declares an input or an output, whose dimensions have names.
func (m message) value(field int, name string, kind int64, dimensions ...string) message {
	var shape message
	for _, d := range dimensions {
		shape = shape.sub(1, message{}.text(2, d))
	}
	tensor := message{}.number(1, kind).sub(2, shape)
	return m.sub(field, message{}.text(1, name).sub(2, message{}.sub(1, tensor)))
}
