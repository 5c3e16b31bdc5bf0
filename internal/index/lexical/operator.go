package lexical

import "strings"

// An operator of a language or a shell, as ->>, @> or ??=, has no letters, and so
// no word. It is indexed as a symbol where a passage speaks of it: in a title, a
// heading or an index term, and as code of its own in the text, not where
// examples use it.

const (
	operatorSigns = "!#$%&*+-./:<=>?@\\^|~"
	// minOperator and maxOperator are how many signs an operator has.
	minOperator, maxOperator = 2, 4
	// maxOperatorCount is how often an operator counts in one field. In a row of a
	// table, which tells what it does, it counts rowCount times.
	maxOperatorCount, rowCount = 6, 3
)

// operatorTerm is the term of an operator. No name begins with its second sign.
func operatorTerm(operator string) string { return string(symbolMark) + "=" + operator }

// eachOperator calls found with every run of signs that can be an operator: one
// that stands alone and, with code set, between backticks. row reports whether
// it is in a row of a table.
func eachOperator(text string, code bool, found func(operator string, row bool)) {
	for at := 0; at < len(text); {
		i := strings.IndexAny(text[at:], operatorSigns)
		if i < 0 {
			return
		}
		start := at + i
		end := start
		for end < len(text) && strings.IndexByte(operatorSigns, text[end]) >= 0 {
			end++
		}
		at = end
		if n := end - start; n < minOperator || n > maxOperator || !standsAlone(text, start, end, code) {
			continue
		}
		line := strings.LastIndexByte(text[:start], '\n') + 1
		found(text[start:end], text[line] == '|')
	}
}

// standsAlone reports whether there is neither a letter nor a digit next to a
// piece of text; with code set, whether there are backticks.
func standsAlone(text string, start, end int, code bool) bool {
	before, after := byte(' '), byte(' ')
	if start > 0 {
		before = text[start-1]
	}
	if end < len(text) {
		after = text[end]
	}
	if code {
		return before == '`' && after == '`'
	}
	return strings.IndexByte(" \t\n`'\"([{,;", before) >= 0 && strings.IndexByte(" \t\n`'\")]},;", after) >= 0
}

// operators counts the operators that a field speaks of, in their order.
func operators(text string, code bool) (terms []string, counts []int) {
	eachOperator(text, code, func(operator string, row bool) {
		n := 1
		if row {
			n = rowCount
		}
		term := operatorTerm(operator)
		for i := range terms {
			if terms[i] == term {
				counts[i] = min(maxOperatorCount, counts[i]+n)
				return
			}
		}
		terms, counts = append(terms, term), append(counts, n)
	})
	return terms, counts
}

// operatorTerms are the terms of a query of which operators are all but the
// database's names; none for other queries.
func operatorTerms(text string, words []contentWord) []queryTerm {
	for _, w := range words {
		if !w.isName {
			return nil
		}
	}
	terms, counts := operators(text, false)
	var found []queryTerm
	for i, term := range terms {
		found = append(found, queryTerm{term: term, weight: float64(counts[i]), own: true}, queryTerm{term: term, weight: wholeBonus, symbol: true})
	}
	return found
}
