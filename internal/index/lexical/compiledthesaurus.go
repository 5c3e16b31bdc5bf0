package lexical

import (
	_ "embed"
	"iter"
	"strings"
)

// A compiledThesaurus is the compiled form of the thesaurus. Integers are little-endian.
//
//	uint8               number n of different lengths of words
//	n x uint8, uint16   a length in bytes, ascending, and the number of words of that length
//	words               sorted by length, then by bytes, without separators
//	uint8               number n of frequent words
//	n x uint16          a word by its place among all words
//	uint16              number n of stems with entries
//	n x uint16, uint24  a stem by its place, ascending, and the offset of its line
//	uint16              number n of members of classes
//	n x uint16          a stem by its place plus 1, or 0 after the last member of a class
//	lines
//
// A line has the entries of a stem, the longest keys first, and ends with lineEnd. An entry
// consists of its names, if it has any, the rest of its key and, after keyEnd, the terms
// that it adds. A sequence has its whole key after sequenceMark, with fillerMark before the
// words that do not count. The words of a target follow joinMark, but for the first. As
// text, with the marks as characters:
//
//	{rust/cargo}>crate|combin>squash rebas fixup|"commit ~to file>write+tree
//
// In a line, a byte below firstFrequent is a mark. One below firstRare is a frequent word.
// Any other byte a is, with the byte b after it, the word at (a-firstRare)*rareBytes +
// b-firstFrequent. So no byte of a word is a mark.
//
// A search reads this form as it is. It has a third of the size of the text.
type compiledThesaurus struct {
	lengths  string
	words    string
	frequent string
	stems    string
	classes  string
	lines    string
}

//go:generate go test -run ^TestThesaurus$ -update
//go:embed thesaurus.bin
var thesaurusData string

// The marks in a line.
const (
	lineEnd = iota
	entryEnd
	keyEnd
	namesStart
	namesEnd
	sequenceMark
	fillerMark
	joinMark

	firstFrequent = 8
	firstRare     = 160
	rareBytes     = 256 - firstFrequent

	lengthSize = 3
	stemSize   = 5
)

// openThesaurus returns the parts of a compiled thesaurus.
func openThesaurus(data string) (t compiledThesaurus) {
	take := func(n int) (part string) {
		part, data = data[:n], data[n:]
		return part
	}
	t.lengths = take(int(take(1)[0]) * lengthSize)
	size := 0
	for at := 0; at < len(t.lengths); at += lengthSize {
		size += int(t.lengths[at]) * uint16At(t.lengths, at+1)
	}
	t.words = take(size)
	t.frequent = take(int(take(1)[0]) * 2)
	t.stems = take(uint16At(take(2), 0) * stemSize)
	t.classes = take(uint16At(take(2), 0) * 2)
	t.lines = data
	return t
}

func uint16At(s string, at int) int { return int(s[at]) | int(s[at+1])<<8 }

// A compiledEntry is an entry of a line.
type compiledEntry struct {
	names, key, targets string
	isSequence          bool
}

// splitEntry returns the parts of an entry.
func splitEntry(entry string) (e compiledEntry) {
	end := strings.IndexByte(entry, keyEnd)
	e.key, e.targets = entry[:end], entry[end+1:]
	if e.key != "" && e.key[0] == namesStart {
		end = strings.IndexByte(e.key, namesEnd)
		e.names, e.key = e.key[1:end], e.key[end+1:]
	}
	if e.isSequence = e.key != "" && e.key[0] == sequenceMark; e.isSequence {
		e.key = e.key[1:]
	}
	return e
}

// entries returns the entries of the stem at a place.
func (t *compiledThesaurus) entries(place int) iter.Seq[compiledEntry] {
	return func(yield func(compiledEntry) bool) {
		for rest := t.line(place); rest != ""; {
			var entry string
			entry, rest, _ = strings.Cut(rest, string(rune(entryEnd)))
			if !yield(splitEntry(entry)) {
				return
			}
		}
	}
}

// line returns the line of the stem at a place, or "".
func (t *compiledThesaurus) line(place int) string {
	low, high := 0, len(t.stems)/stemSize
	for low < high {
		middle := (low + high) / 2
		at := middle * stemSize
		switch found := uint16At(t.stems, at); {
		case found == place:
			line := t.lines[uint16At(t.stems, at+2)|int(t.stems[at+4])<<16:]
			return line[:strings.IndexByte(line, lineEnd)]
		case found < place:
			low = middle + 1
		default:
			high = middle
		}
	}
	return ""
}

// find returns the place of a word, or -1.
func (t *compiledThesaurus) find(word string) int {
	first, offset := 0, 0
	for at := 0; at < len(t.lengths); at += lengthSize {
		length, count := int(t.lengths[at]), uint16At(t.lengths, at+1)
		if length != len(word) {
			first, offset = first+count, offset+length*count
			continue
		}
		low, high := 0, count
		for low < high {
			middle := (low + high) / 2
			switch w := t.words[offset+middle*length:][:length]; {
			case w == word:
				return first + middle
			case w < word:
				low = middle + 1
			default:
				high = middle
			}
		}
		break
	}
	return -1
}

// word returns the word at a place.
func (t *compiledThesaurus) word(place int) string {
	offset := 0
	for at := 0; at < len(t.lengths); at += lengthSize {
		length, count := int(t.lengths[at]), uint16At(t.lengths, at+1)
		if place < count {
			return t.words[offset+place*length:][:length]
		}
		place, offset = place-count, offset+length*count
	}
	return ""
}

// next returns the place of the word at the start of a line's rest, and what follows.
func (t *compiledThesaurus) next(line string) (place int, rest string) {
	if line[0] < firstRare {
		return uint16At(t.frequent, 2*int(line[0]-firstFrequent)), line[1:]
	}
	return int(line[0]-firstRare)*rareBytes + int(line[1]) - firstFrequent, line[2:]
}

// targets returns the targets of an entry, each as text.
func (t *compiledThesaurus) targets(part string) (targets []string) {
	for part != "" {
		_, rest := t.next(part)
		for rest != "" && rest[0] == joinMark {
			_, rest = t.next(rest[1:])
		}
		targets = append(targets, t.text(part[:len(part)-len(rest)]))
		part = rest
	}
	return targets
}

// text returns a part of a line as text: its words, separated by spaces, a filler with
// fillerPrefix.
func (t *compiledThesaurus) text(part string) string {
	var text strings.Builder
	for part != "" {
		if part[0] == joinMark {
			part = part[1:]
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		if part[0] == fillerMark {
			text.WriteByte(fillerPrefix)
			part = part[1:]
		}
		var place int
		place, part = t.next(part)
		text.WriteString(t.word(place))
	}
	return text.String()
}
