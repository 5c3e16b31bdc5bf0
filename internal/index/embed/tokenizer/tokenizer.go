// Package tokenizer splits texts into the tokens of an embedding model, as
// specified by a tokenizer.json of Hugging Face's tokenizers. It supports the
// parts of the format that static embedding models use: the models WordPiece and
// Unigram with their normalizers and pre-tokenizers.
package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Tokenizer is a parsed tokenizer.json. It is safe for concurrent use.
type Tokenizer struct {
	added       []addedToken
	normalize   normalizer
	preTokenize preTokenizer
	model       tokenModel
	unknown     int // ID of the unknown token, or -1
	size        int
}

// An addedToken is matched in the text before normalization.
type addedToken struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
}

// A normalizer rewrites a text.
type normalizer = func(string) string

// A preTokenizer splits pieces of a text into smaller ones.
type preTokenizer = func([]string) []string

// A tokenModel splits a piece into tokens and appends their IDs to list.
type tokenModel interface {
	tokens(list []int, piece string) []int
}

// Parse parses a tokenizer.json.
func Parse(data []byte) (*Tokenizer, error) {
	var file struct {
		Added        []addedToken    `json:"added_tokens"`
		Normalizer   json.RawMessage `json:"normalizer"`
		PreTokenizer json.RawMessage `json:"pre_tokenizer"`
		Model        json.RawMessage `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	t := &Tokenizer{added: file.Added, unknown: -1}
	var err error
	if t.normalize, err = parseNormalizer(file.Normalizer); err != nil {
		return nil, err
	}
	if t.preTokenize, err = parsePreTokenizer(file.PreTokenizer); err != nil {
		return nil, err
	}
	if err := t.parseModel(file.Model); err != nil {
		return nil, err
	}
	for _, a := range t.added {
		if a.ID < 0 || a.ID > 1<<24 || a.Content == "" {
			return nil, fmt.Errorf("added token %q has number %d", a.Content, a.ID)
		}
		t.size = max(t.size, a.ID+1)
	}
	return t, nil
}

// Size returns the number of token IDs: every ID is smaller.
func (t *Tokenizer) Size() int { return t.size }

// Tokens returns the token IDs of a text, without unknown tokens.
func (t *Tokenizer) Tokens(text string) []int {
	var list []int
	for text != "" {
		before, id, after := t.nextAddedToken(text)
		for _, piece := range t.preTokenize([]string{t.normalize(before)}) {
			list = t.model.tokens(list, piece)
		}
		if id >= 0 {
			list = append(list, id)
		}
		text = after
	}
	return slices.DeleteFunc(list, func(id int) bool { return id == t.unknown })
}

// nextAddedToken splits text at its first added token. If it has none, id is -1.
func (t *Tokenizer) nextAddedToken(text string) (before string, id int, after string) {
	first, length := len(text), 0
	id = -1
	for _, a := range t.added {
		at := strings.Index(text, a.Content)
		if at >= 0 && (at < first || at == first && len(a.Content) > length) {
			first, length, id = at, len(a.Content), a.ID
		}
	}
	return text[:first], id, text[first+length:]
}

// A component has the type of a part of a tokenizer.json, and the steps of a Sequence.
type component struct {
	Type          string            `json:"type"`
	Normalizers   []json.RawMessage `json:"normalizers"`
	PreTokenizers []json.RawMessage `json:"pretokenizers"`
}

// absent is the type of a part that is null or missing.
const absent = "null"

func parseComponent(raw json.RawMessage) (c component, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return component{Type: absent}, nil
	}
	err = json.Unmarshal(raw, &c)
	return c, err
}

// parseSteps parses the steps of a Sequence.
func parseSteps[T any](list []json.RawMessage, parse func(json.RawMessage) (func(T) T, error)) (func(T) T, error) {
	steps := make([]func(T) T, len(list))
	for i, raw := range list {
		var err error
		if steps[i], err = parse(raw); err != nil {
			return nil, err
		}
	}
	return inTurn(steps), nil
}

// inTurn returns a function that applies steps one after another.
func inTurn[T any](steps []func(T) T) func(T) T {
	return func(v T) T {
		for _, step := range steps {
			v = step(v)
		}
		return v
	}
}

func (t *Tokenizer) parseModel(raw json.RawMessage) error {
	c, err := parseComponent(raw)
	if err != nil {
		return err
	}
	switch c.Type {
	case absent:
		return errors.New("no model")
	case "WordPiece", "": // older files omit the type
		m, err := parseWordPiece(raw)
		if err != nil {
			return err
		}
		t.model, t.unknown, t.size = m, m.unknown, m.size
	case "Unigram":
		m, err := parseUnigram(raw)
		if err != nil {
			return err
		}
		t.model, t.unknown, t.size = m, m.unknown, m.size
	default:
		return fmt.Errorf("a model of type %s cannot be read, WordPiece and Unigram can", c.Type)
	}
	return nil
}
