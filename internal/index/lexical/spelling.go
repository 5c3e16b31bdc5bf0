package lexical

import (
	"bytes"
	"strings"
)

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
		if w.kind != word || w.composite || w.technology || !w.isSearched() || !isCorrectable(written) ||
			isLiteral(text, w.start) {
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
		if name.end == 0 || w.position != name.position+1 || len(number) >= maxPadded || !isNumber(number) ||
			number[0] == '0' ||
			isNumber(text[name.start:name.end]) || isLiteral(text, name.start) ||
			strings.Count(text[:w.start], `"`)%2 == 1 {
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
	matchers, possible, err := x.openConstraints([]phraseConstraint{{words: x.analyzer.phraseWords(text),
		fields: fields}})
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
	edits, err := x.editsOf(word)
	if err != nil {
		return "", err
	}
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
		if !edits.reach(i, word[i+1]) {
			continue
		}
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
		if i < len(word) && (i+1 == len(word) || edits.reach(i, word[i+1])) {
			if err := try(append(append(buf[:0], word[:i]...), word[i+1:]...)); err != nil {
				return "", err
			}
		}
		for c := byte('a'); c <= 'z'; c++ {
			if !edits.reach(i, c) {
				continue
			}
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

// maxEditBlocks is the number of dictionary blocks from which reading the terms of a letter
// costs more than looking up the edits of a word.
const maxEditBlocks = 16

// edits are the edits of a word that can lead to a term of the index. Most words of an
// unrelated query have none in a small index, whose build searches hundreds of such queries.
type edits struct {
	// letters has a bit for each letter that follows the word's first n letters in a term.
	letters []uint32
	// prefix is the length of the shortest term with which the word begins. An edit after it
	// can lead to that term, whatever the letter. Zero: any edit can lead to a term.
	prefix int
}

// reach reports whether a word that is edited at an offset, where it has the letter c then,
// can have a term in the index.
func (e edits) reach(at int, c byte) bool {
	return at >= e.prefix || e.letters[at]&letterBit(c) != 0
}

// letterBit returns the bit of a letter from a to z, or 0.
func letterBit(c byte) uint32 {
	if !isLower(c) {
		return 0
	}
	return 1 << (c - 'a')
}

// editsOf returns the edits of a word. It knows the stems of English, and reads only few
// terms: otherwise all edits are possible.
func (x *Index) editsOf(word string) (edits, error) {
	if x.analyzer.language != DefaultLanguage {
		return edits{}, nil
	}
	first, end, err := x.dictionary.blocksOf(word[:1])
	if err != nil || end-first > maxEditBlocks {
		return edits{}, err
	}
	e := edits{letters: make([]uint32, len(word)+1), prefix: len(word) + 1}
	for r, err := range x.dictionary.readTerms(first, end) {
		if err != nil {
			return e, err
		}
		if !bytes.HasPrefix(r.term, []byte(word[:1])) {
			continue
		}
		kept := unchangedByStemmer(r.term)
		shared := sharedPrefix(word, kept)
		if shared == len(kept) {
			e.prefix = min(e.prefix, shared)
		}
		for i := range min(shared+1, len(kept)) {
			e.letters[i] |= letterBit(kept[i])
		}
	}
	return e, nil
}

// unchangedByStemmer returns the beginning of an English stem that is also that of all its
// words. The stemmer removes endings, and may then write others: e (hope of hoping), i
// (happi of happy), le or l (possibl of possibility), ie (die of dying) and y (sky of skies).
func unchangedByStemmer(stem []byte) []byte {
	n := len(stem)
	switch {
	case bytes.HasSuffix(stem, []byte("le")), bytes.HasSuffix(stem, []byte("ie")):
		n -= 2
	case bytes.IndexByte([]byte("eily"), stem[n-1]) >= 0:
		n--
	}
	return stem[:max(1, n)]
}
