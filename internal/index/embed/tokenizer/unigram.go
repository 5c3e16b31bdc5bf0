package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// A unigram model splits a piece into the tokens with the greatest sum of log
// probabilities.
type unigram struct {
	ids           map[string]int
	scores        []float64
	maxTokenBytes int
	unknown       int
	// unknownScore is the score of a character that is not a token by itself. It
	// is lower than that of any token.
	unknownScore float64
	size         int
}

func parseUnigram(raw json.RawMessage) (*unigram, error) {
	var file struct {
		Vocab        [][2]json.RawMessage `json:"vocab"`
		Unknown      *int                 `json:"unk_id"`
		ByteFallback bool                 `json:"byte_fallback"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if file.ByteFallback {
		return nil, errors.New("a Unigram model with byte_fallback cannot be read")
	}
	m := &unigram{ids: make(map[string]int, len(file.Vocab)), unknown: -1, size: len(file.Vocab)}
	minScore := math.Inf(1)
	for id, pair := range file.Vocab {
		var token string
		var score float64
		if err := errors.Join(json.Unmarshal(pair[0], &token), json.Unmarshal(pair[1], &score)); err != nil {
			return nil, fmt.Errorf("token %d: %w", id, err)
		}
		m.ids[token] = id
		m.scores = append(m.scores, score)
		m.maxTokenBytes = max(m.maxTokenBytes, len(token))
		minScore = min(minScore, score)
	}
	if file.Unknown != nil {
		if *file.Unknown < 0 || *file.Unknown >= m.size {
			return nil, fmt.Errorf("unk_id is %d of %d tokens", *file.Unknown, m.size)
		}
		m.unknown = *file.Unknown
	}
	m.unknownScore = minScore - 10
	return m, nil
}

// tokens finds the best segmentation by dynamic programming (Viterbi): the best
// path to each offset from left to right, then back from the end.
func (m *unigram) tokens(list []int, piece string) []int {
	type step struct {
		score float64
		from  int
		id    int
	}
	best := make([]step, len(piece)+1)
	for i := range best {
		best[i].score = math.Inf(-1)
	}
	best[0].score = 0
	for at := 0; at < len(piece); {
		_, char := utf8.DecodeRuneInString(piece[at:])
		single := false
		for end := at + char; end <= min(len(piece), at+m.maxTokenBytes); end++ {
			if end < len(piece) && !utf8.RuneStart(piece[end]) {
				continue
			}
			id, ok := m.ids[piece[at:end]]
			if !ok {
				continue
			}
			single = single || end == at+char
			if score := best[at].score + m.scores[id]; score > best[end].score {
				best[end] = step{score, at, id}
			}
		}
		if end := at + char; !single && best[at].score+m.unknownScore > best[end].score {
			best[end] = step{best[at].score + m.unknownScore, at, m.unknown}
		}
		at += char
	}
	before := len(list)
	for at := len(piece); at > 0; at = best[at].from {
		if best[at].id >= 0 {
			list = append(list, best[at].id)
		}
	}
	slices.Reverse(list[before:])
	return list
}
