package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A wordPiece model splits a word into the longest tokens in the vocabulary, from
// left to right.
type wordPiece struct {
	initial       map[string]int // tokens that begin a word
	continuation  map[string]int // tokens that continue a word, without the prefix
	maxTokenBytes int
	maxWordRunes  int // a longer word is unknown
	unknown       int
	size          int
}

func parseWordPiece(raw json.RawMessage) (*wordPiece, error) {
	file := struct {
		Vocab    map[string]int `json:"vocab"`
		Unknown  string         `json:"unk_token"`
		Prefix   string         `json:"continuing_subword_prefix"`
		MaxRunes int            `json:"max_input_chars_per_word"`
	}{Unknown: "[UNK]", Prefix: "##", MaxRunes: 100}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	m := &wordPiece{initial: make(map[string]int, len(file.Vocab)), continuation: make(map[string]int),
		maxWordRunes: file.MaxRunes}
	for token, id := range file.Vocab {
		if id < 0 || id > 1<<24 {
			return nil, fmt.Errorf("token %q has number %d", token, id)
		}
		m.size = max(m.size, id+1)
		m.maxTokenBytes = max(m.maxTokenBytes, len(token))
		m.initial[token] = id
		if rest, ok := strings.CutPrefix(token, file.Prefix); ok {
			m.continuation[rest] = id
		}
	}
	var ok bool
	if m.unknown, ok = file.Vocab[file.Unknown]; !ok {
		return nil, fmt.Errorf("the vocabulary has no %q", file.Unknown)
	}
	return m, nil
}

func (m *wordPiece) tokens(list []int, word string) []int {
	if word == "" {
		return list
	}
	if utf8.RuneCountInString(word) > m.maxWordRunes {
		return append(list, m.unknown)
	}
	before := len(list)
	vocabulary := m.initial
	for word != "" {
		length, id := m.longestPrefix(vocabulary, word)
		if length == 0 {
			return append(list[:before], m.unknown)
		}
		list = append(list, id)
		word, vocabulary = word[length:], m.continuation
	}
	return list
}

func (m *wordPiece) longestPrefix(vocabulary map[string]int, word string) (length, id int) {
	for end := min(len(word), m.maxTokenBytes); end > 0; end-- {
		if end < len(word) && !utf8.RuneStart(word[end]) {
			continue
		}
		if id, ok := vocabulary[word[:end]]; ok {
			return end, id
		}
	}
	return 0, 0
}
