package lexical

import "strings"

// Operators of a language or shell, such as ->>, @> or ??=, have no letters and are no
// words. They are indexed as symbols of the passages that discuss them: those with the
// operator in the title, a heading, an index term or, as a code span of its own, in the
// text. Uses in examples do not count. A single character counts only in backticks, quotes
// and brackets.

const (
	operatorSigns = "!#$%&*+-./:<=>?@\\^|~"
	// minOperator and maxOperator limit the length of an operator.
	minOperator, maxOperator = 1, 4
	// maxOperatorCount limits the occurrences counted per field. An occurrence in a table
	// row, which usually describes the operator, counts as tableRowCount.
	maxOperatorCount, tableRowCount = 6, 3
)

// operatorTerm returns the term of an operator. No symbol of another kind begins with
// "@=".
func operatorTerm(operator string) string { return string(symbolMark) + "=" + operator }

// eachOperator calls found with each run of signs that has the length of an operator and
// that counts accepts. row reports whether it is in a table row.
func eachOperator(text string, counts func(start, end int) bool, found func(operator string, row bool)) {
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
		if n := end - start; n < minOperator || n > maxOperator || !counts(start, end) {
			continue
		}
		line := strings.LastIndexByte(text[:start], '\n') + 1
		found(text[start:end], text[line] == '|')
	}
}

// isDelimited reports whether a range of text has a space, quote or bracket on both sides;
// for a single character only a quote or bracket, and with code set only backticks.
func isDelimited(text string, start, end int, code bool) bool {
	before, after := byte(' '), byte(' ')
	if start > 0 {
		before = text[start-1]
	}
	if end < len(text) {
		after = text[end]
	}
	switch {
	case code:
		return before == '`' && after == '`'
	case end-start == 1 && len(text) > 1:
		return strings.IndexByte("`'\"([", before) >= 0 && strings.IndexByte("`'\")]", after) >= 0
	}
	return strings.IndexByte(" \t\n`'\"([{,;", before) >= 0 && strings.IndexByte(" \t\n`'\")]},;", after) >= 0
}

// operators counts the operators that a field discusses, in order of first occurrence.
func operators(text string, code bool) (terms []string, counts []int) {
	return countOperators(text, func(start, end int) bool { return isDelimited(text, start, end, code) })
}

func countOperators(text string, counted func(start, end int) bool) (terms []string, counts []int) {
	eachOperator(text, counted, func(operator string, row bool) {
		n := 1
		if row {
			n = tableRowCount
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

// operatorWeight is the weight of an operator in a query with words, which have 1.
const operatorWeight = .5

// maxOperatorWords is the maximum number of words in a query whose operators count. Longer
// queries are pasted text.
const maxOperatorWords = 16

// operatorTerms returns the terms of the operators in a query. alone reports that the
// query has no other words than names of the database and question words. Otherwise the
// operators only add to the scores of the words.
func (a *Analyzer) operatorTerms(text string, words []contentWord) (found []queryTerm, alone bool) {
	if !strings.ContainsAny(text, operatorSigns) {
		return nil, false
	}
	alone = true
	counted := 0
	for _, w := range words {
		alone = alone && (w.isName || a.isQuestionWord(string(fold(nil, text[w.start:w.end]))))
		if w.isSearched() && !w.composite {
			counted++
		}
	}
	if !alone && counted > maxOperatorWords {
		return nil, false
	}
	terms, counts := countOperators(text, func(start, end int) bool {
		return isQueriedOperator(text, start, end, alone)
	})
	for i, term := range terms {
		if alone {
			found = append(found, queryTerm{term: term, weight: float64(counts[i]), fromQuery: true},
				queryTerm{term: term, weight: wholeBonus, symbol: true})
		} else {
			found = append(found, queryTerm{term: term, weight: operatorWeight},
				queryTerm{term: term, weight: wordBonus, symbol: true})
		}
	}
	return found, alone && len(found) > 0
}

// isQueriedOperator reports whether a run of signs in a query is an operator that the
// query is about. Between words, punctuation characters count only next to a word such as
// "operator".
func isQueriedOperator(text string, start, end int, alone bool) bool {
	single, stands := end-start == 1, isDelimited(text, start, end, false)
	switch {
	case stands && (single || alone):
		return true
	case !stands && !(single && isBetweenBlanks(text, start, end)):
		return false
	}
	return !isPunctuation(text[start:end]) || isOperatorContext(text[:start], text[end:])
}

func isBetweenBlanks(text string, start, end int) bool {
	return (start == 0 || strings.IndexByte(spaces, text[start-1]) >= 0) &&
		(end == len(text) || strings.IndexByte(spaces, text[end]) >= 0)
}

// isPunctuation reports whether signs are also used as punctuation between words: dashes,
// dots, arrows, and most single characters.
func isPunctuation(signs string) bool {
	switch strings.Trim(signs, "-=.") {
	case "", ">", "<":
		return true
	}
	return len(signs) == 1 && strings.IndexByte("%~^@$\\", signs[0]) < 0
}

// isOperatorContext reports whether the word before or after signs, such as "operator" or
// "means", shows that the query is about them.
func isOperatorContext(before, after string) bool {
	before = strings.TrimRight(before, spaces)
	after = strings.TrimLeft(after, spaces)
	before = before[strings.LastIndexAny(before, spaces)+1:]
	if i := strings.IndexAny(after, spaces); i >= 0 {
		after = after[:i]
	}
	for _, w := range [...]string{before, after} {
		switch strings.ToLower(strings.Trim(w, "?!.,;:\"'`")) {
		case "operator", "operators", "sign", "symbol", "character", "characters", "does", "do", "mean", "means",
			"meaning":
			return true
		}
	}
	return false
}
