package lexical

import _ "embed"

// thesaurus has one line per word: its stem, and what else people call what
// it means. The lines are sorted, so that a word is found without reading
// them all, and nothing is done with them when the program starts.
//
//go:embed thesaurus.txt
var thesaurus string

// synonymsOf returns the synonyms of an English stem, or "".
func synonymsOf(stem string) string {
	synonyms, _ := lookup(thesaurus, stem)
	return synonyms
}
