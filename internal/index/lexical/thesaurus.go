package lexical

import (
	_ "embed"
	"strings"
)

// thesaurus has one line per word: its stem, and what else people call what
// it means. The lines are sorted, so that a word is found without reading
// them all, and nothing is done with them when the program starts.
//
//go:embed thesaurus.txt
var thesaurus string

// synonymsOf returns the synonyms of an English stem, or "".
func synonymsOf(stem string) string {
	low, high := 0, len(thesaurus)
	for low < high {
		// The line that the middle lies in.
		mid := (low + high) / 2
		start := strings.LastIndexByte(thesaurus[:mid], '\n') + 1
		line := thesaurus[start:]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		key, synonyms, _ := strings.Cut(line, " ")
		switch {
		case key == stem:
			return synonyms
		case key < stem:
			low = start + len(line) + 1
		default:
			high = start
		}
	}
	return ""
}
