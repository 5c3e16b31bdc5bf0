package lexical

import "strings"

const (
	// correctedWeight is the weight of a corrected word; others have 1.
	correctedWeight = .9
	// minMisspelled is the minimum length of a corrected word in letters. Shorter words
	// have too many neighbors.
	minMisspelled = 5
	// minCorrection is the minimum document frequency of a correction.
	minCorrection = 2
	// maxPadded is the maximum number of digits of a number with leading zeros in a name.
	maxPadded = 4
)

// A spelling is the result of spelling correction.
type spelling struct {
	text       string            // the corrected text
	misspelled map[string]string // original words by the terms of their corrections
	unknown    int               // number of unknown words without a correction
}

// respell corrects the words of a query's text that neither the index nor the background
// corpus contains. It skips words in quotes and after operators, which are meant
// literally.
func (x *Index) respell(text string, names []string) (spelling, error) {
	s := spelling{text: text}
	var b strings.Builder
	end := 0
	for _, w := range x.analyzer.contentWords(text, names) {
		written := text[w.start:w.end]
		if w.kind != word || w.composite || w.technology || !w.isSearched() || !isCorrectable(written) || isLiteral(text, w.start) {
			continue
		}
		_, found, err := x.postingList(w.term)
		if err != nil {
			return s, err
		}
		if _, known := lookup(background, w.term); found || known {
			continue
		}
		correction, err := x.nearestWord(written)
		if err != nil {
			return s, err
		}
		if correction == "" {
			s.unknown++
			continue
		}
		if s.misspelled == nil {
			s.misspelled = make(map[string]string)
		}
		s.misspelled[x.analyzer.stemOf(correction)] = written
		b.WriteString(text[end:w.start])
		b.WriteString(correction)
		end = w.end
	}
	if end > 0 {
		b.WriteString(text[end:])
		s.text = b.String()
	}
	return s, nil
}

// padNumbers adds the leading zeros that the index has to numbers in names, so that
// "adr 16" finds ADR-016. A name that the index contains as written stays.
func (x *Index) padNumbers(text string, names []string) (string, error) {
	if !strings.ContainsAny(text, "123456789") {
		return text, nil
	}
	padded := text
	var before contentWord
	for _, w := range x.analyzer.contentWords(text, names) {
		if w.kind != word {
			continue
		}
		name, number := before, text[w.start:w.end]
		before = w
		if name.end == 0 || w.position != name.position+1 || len(number) >= maxPadded || !isNumber(number) || number[0] == '0' ||
			isNumber(text[name.start:name.end]) || isLiteral(text, name.start) || strings.Count(text[:w.start], `"`)%2 == 1 {
			continue
		}
		zeros, err := x.zerosOf(text[name.start:name.end], number)
		if err != nil {
			return text, err
		}
		at := w.start + len(padded) - len(text)
		padded = padded[:at] + zeros + padded[at:]
	}
	return padded, nil
}

// zerosOf returns the leading zeros with which a number follows a word in the index, in
// titles and addresses rather than in text; none if it does so as written, or never.
func (x *Index) zerosOf(before, number string) (string, error) {
	variants := []string{""}
	for zeros := "0"; len(zeros)+len(number) <= maxPadded; zeros += "0" {
		_, found, err := x.postingList(zeros + number)
		if err != nil {
			return "", err
		}
		if found {
			variants = append(variants, zeros)
		}
	}
	if len(variants) == 1 {
		return "", nil // as in nearly every index, and cheaper than a look at phrases
	}
	for _, fields := range [...]uint{titleFields | addressFields, allFields} {
		for _, zeros := range variants {
			found, err := x.hasPhrase(before+" "+zeros+number, fields)
			if found || err != nil {
				return zeros, err
			}
		}
	}
	return "", nil
}

// hasPhrase reports whether a passage contains the words of a text in this order.
func (x *Index) hasPhrase(text string, fields uint) (bool, error) {
	matchers, possible, err := x.openConstraints([]phraseConstraint{{words: x.analyzer.phraseWords(text), fields: fields}})
	if err != nil || !possible {
		return false, err
	}
	passages, err := x.phraseMatches(&matchers[0])
	return len(passages) > 0, err
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// isLiteral reports whether the word at an offset of a query's text is quoted or follows
// an operator.
func isLiteral(text string, at int) bool {
	return at > 0 && (text[at-1] == '-' || text[at-1] == ':') || strings.Count(text[:at], `"`)%2 == 1
}

// isCorrectable reports whether a word is long enough and all lower-case letters. Words
// with digits, signs or capitals are names.
func isCorrectable(word string) bool {
	if len(word) < minMisspelled {
		return false
	}
	for i := range len(word) {
		if !isLower(word[i]) {
			return false
		}
	}
	return true
}

// nearestWord returns the word of the index that is one edit from a misspelled one, or "".
// An edit transposes two adjacent letters, or deletes, inserts or replaces a letter
// (Damerau, "A technique for computer detection and correction of spelling errors", 1964),
// except for the first letter. Transpositions, the likeliest edits, take precedence;
// otherwise the highest document frequency decides.
func (x *Index) nearestWord(word string) (string, error) {
	best, bestFrequency := "", minCorrection-1
	try := func(candidate []byte) error {
		term := x.analyzer.stemOf(string(candidate))
		if term == "" {
			return nil
		}
		l, found, err := x.postingList(term)
		if found && l.passageFrequency > bestFrequency {
			best, bestFrequency = string(candidate), l.passageFrequency
		}
		return err
	}
	buf := make([]byte, 0, len(word)+1)
	for i := 1; i+1 < len(word); i++ {
		buf = append(buf[:0], word...)
		buf[i], buf[i+1] = buf[i+1], buf[i]
		if err := try(buf); err != nil {
			return "", err
		}
	}
	if best != "" {
		return best, nil
	}
	for i := 1; i <= len(word); i++ {
		if i < len(word) {
			if err := try(append(append(buf[:0], word[:i]...), word[i+1:]...)); err != nil {
				return "", err
			}
		}
		for c := byte('a'); c <= 'z'; c++ {
			if i < len(word) {
				if err := try(append(append(append(buf[:0], word[:i]...), c), word[i+1:]...)); err != nil {
					return "", err
				}
			}
			if err := try(append(append(append(buf[:0], word[:i]...), c), word[i:]...)); err != nil {
				return "", err
			}
		}
	}
	return best, nil
}
