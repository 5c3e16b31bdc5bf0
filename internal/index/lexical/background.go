package lexical

import (
	_ "embed"
	"math"
	"strconv"
)

// background is the background corpus: word frequencies in technical documentation in
// general. A line has a stem and the number of passages out of 10,000 that contain it;
// stems below 12 are omitted. The lines are sorted. The numbers are means over the manuals
// of Python, PostgreSQL, Django, git, SQLite, Node.js and CMake, computed by
// gen_background.go.
//
//go:embed background.txt
var background string

const (
	// unlistedShare is the share of passages with a stem that background does not list.
	unlistedShare = 5e-4
	// smoothing keeps the probabilities of rare and missing words above zero; maxEvidence
	// limits the evidence of one word.
	smoothing   = 1e-3
	maxEvidence = 4
)

// evidence is the log ratio of a word's share of the index's passages to common,
// its share of the background corpus. It is positive for words that suggest that
// the query is about this index.
func evidence(common float64, passages, total int) float64 {
	here := float64(passages) / float64(total)
	ratio := math.Log((here + smoothing/10) / (common + smoothing))
	return max(-maxEvidence, min(maxEvidence, ratio))
}

// backgroundShare returns the share of the background corpus's passages that contain a
// stem.
func backgroundShare(stem string) float64 {
	if value, ok := lookup(background, stem); ok {
		if n, err := strconv.Atoi(value); err == nil {
			return float64(n) / 1e4
		}
	}
	return unlistedShare
}

// backgroundRarity falls from 1 for a word that the background corpus lacks to 0 for one
// that all its passages contain. common is the word's share there.
func backgroundRarity(common float64) float64 {
	return math.Log(common+smoothing) / math.Log(smoothing)
}

// lookup finds the line of sorted text that begins with key and a space, and returns the
// rest of the line. It assumes short lines.
func lookup(text, key string) (value string, found bool) {
	low, high := 0, len(text) // line starts
	for low < high {
		// Find the start of the line that contains the middle.
		start := (low + high) / 2
		for start > low && text[start-1] != '\n' {
			start--
		}
		at := start
		for at-start < len(key) && at < len(text) && text[at] == key[at-start] && text[at] != ' ' {
			at++
		}
		end := at
		for end < len(text) && text[end] != '\n' {
			end++
		}
		switch ended := at == end || text[at] == ' '; {
		case ended && at-start == len(key):
			return text[min(at+1, end):end], true
		case ended, at-start < len(key) && text[at] < key[at-start]:
			low = end + 1
		default:
			high = start
		}
	}
	return "", false
}
