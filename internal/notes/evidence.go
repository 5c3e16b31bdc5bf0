package notes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// A Trace is what of a failure a passage has.
type Evidence struct {
	Share   float64 // of the messages' telling words, those in the passage
	Rarity  float64 // of these, as in an Entry
	Defines float64 // 1 if it is about a code in the messages, less if about another name
	Name    string  // it is about
	Titled  bool    // a message has its title or heading word for word
	Run     int     // words of a message that it has word for word
}

// A Tracer finds what of a failure passages have. It must not be used by several
// goroutines at once.
type Scanner struct {
	names     []failureName
	messages  [][]string       // their words
	numbers   map[string]int   // of the messages' words, from 1 on
	positions [][]wordPosition // of the words, by number
	word      []byte           // of the text being read
	text      []int            // numbers of the text's words
}

// A failureName is a name in a failure; code reports that it is one of an error.
type failureName struct {
	text string
	code bool
}

// A wordPosition is a word of a message, with the numbers of the words from it on.
type wordPosition struct {
	before    int   // number of the word before it, 0 if there is none
	following []int // at most longestRun's limit
}

// Scanner returns a tracer of the failure.
func (f *Failure) Scanner() *Scanner {
	t := &Scanner{numbers: map[string]int{}, positions: make([][]wordPosition, 1)}
	for _, name := range f.Names {
		t.names = append(t.names, failureName{name, isCode(name) || isException(name)})
	}
	for _, m := range f.Messages {
		words := strings.Fields(letters(m))
		t.messages = append(t.messages, words)
		t.addPositions(words)
	}
	return t
}

// addPositions adds the words of a message.
func (t *Scanner) addPositions(words []string) {
	numbers := make([]int, len(words))
	for i, w := range words {
		n, ok := t.numbers[w]
		if !ok {
			n = len(t.positions)
			t.numbers[w] = n
			t.positions = append(t.positions, nil)
		}
		numbers[i] = n
	}
	before := 0
	for i, n := range numbers {
		t.positions[n] = append(t.positions[n], wordPosition{before, numbers[i:min(i+maxRunWords, len(numbers))]})
		before = n
	}
}

// Scan finds what of the failure a passage has. The caller fills in Share and
// Rarity.
func (t *Scanner) Scan(p *passage.Passage) Evidence {
	trace := Evidence{Run: t.longestRun(p.Text), Titled: quotesTitle(p, t.messages)}
	for _, name := range t.names {
		weight := 0.
		switch defined := defines(p, name.text); {
		case defined && name.code:
			weight = 1
		case name.code && containsName(p.Text, name.text):
			weight = .7
		case defined:
			weight = .4
		}
		if weight > trace.Defines {
			trace.Defines, trace.Name = weight, name.text
		}
	}
	return trace
}

const (
	// The rarity of the words that a passage must have for their share to count
	// in full.
	fullRarity         = .6
	fullRarityIfCommon = 1.5
	// A message that a passage has word for word counts from minRunWords words on.
	minRunWords = 4
	runWeight   = .1
	// titleWeight is what a title in a message counts, of 1 for a code.
	titleWeight   = .3
	maxCountedRun = 6
	// maxRunWords is the number of words from which a longer run counts no more.
	maxRunWords = minRunWords + maxCountedRun
)

// Score is how likely a passage with this trace is about the failure, from 0
// up; about .4 is enough. Of a common failure the passage must have more.
func (t Evidence) Score(common bool) float64 {
	enough := fullRarity
	if common {
		enough = fullRarityIfCommon
	}
	if t.Titled {
		t.Defines = max(t.Defines, titleWeight)
	}
	return t.Share*min(1, t.Rarity/enough) + t.Defines + runWeight*float64(min(max(0, t.Run-minRunWords), maxCountedRun))
}

// quotesTitle reports whether one of the messages, in words, has the title of the
// passage's document or its heading, if that is of several words.
func quotesTitle(p *passage.Passage, messages [][]string) bool {
	titles := []string{p.Title}
	if n := len(p.Headings); n > 0 {
		titles = append(titles, strings.Split(p.Headings[n-1], " / ")...)
	}
	for _, title := range titles {
		words := strings.Fields(letters(title))
		if n := len(words); n > 2 && slices.Contains([]string{"clause", "statement", "command", "option"}, words[n-1]) {
			words = words[:n-1]
		}
		if len(words) < 2 || len(words) > 6 {
			continue
		}
		for _, m := range messages {
			for i := range len(m) - len(words) + 1 {
				if slices.Equal(m[i:i+len(words)], words) {
					return true
				}
			}
		}
	}
	return false
}

// Common reports whether the program failed for reasons of its own or of its
// surroundings: an exception of the language, a failed test, a machine that does
// not answer. The documentation of the program does not help with these, so that
// only strong evidence counts.
func (f *Failure) Common() bool {
	if len(f.Messages) == 0 || f.TestFailed {
		return f.TestFailed
	}
	name, _, _ := strings.Cut(f.Messages[0], " ")
	if isGenericName(name) && name != "Error" && name != "ERROR" {
		return true
	}
	for _, m := range f.Messages {
		m = strings.ToLower(m)
		for _, words := range [...]string{
			"not resolve host", "n't resolve host", "name resolution", "name or service not known", "network is unreachable", "getaddrinfo",
			"no space left on device", "disk quota exceeded", "command not found", "(publickey",
		} {
			if strings.Contains(m, words) {
				return true
			}
		}
	}
	return false
}

// containsName reports whether text has a name, and not within a longer one.
func containsName(text, name string) bool {
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !isNamePart(text[i-1])) && (end == len(text) || !isNamePart(text[end])) {
			return true
		}
		text = text[end:]
	}
}

func isNamePart(c byte) bool { return isLetter(c) || isDigit(c) }

// defines reports whether a passage is the one about a name: by its document's
// title, its heading or an anchor.
func defines(p *passage.Passage, name string) bool {
	if isTitle(p.Title, name) {
		return true
	}
	if n := len(p.Headings); n > 0 {
		for part := range strings.SplitSeq(p.Headings[n-1], " / ") {
			if isTitle(part, name) {
				return true
			}
		}
	}
	for _, anchor := range p.Anchors {
		if strings.EqualFold(anchor, name) || len(anchor) > len(name) && anchor[len(anchor)-len(name)-1] == '.' && strings.EqualFold(anchor[len(anchor)-len(name):], name) {
			return true
		}
	}
	return false
}

// isTitle reports whether a title is a name, or its signature.
func isTitle(title, name string) bool {
	title, _, _ = strings.Cut(strings.TrimRight(title, "¶#"), "(")
	title = strings.TrimSpace(title)
	if i := strings.LastIndexByte(title, ' '); i >= 0 {
		title = title[i+1:]
	}
	return strings.EqualFold(title, name) || len(title) > len(name) && title[len(title)-len(name)-1] == '.' && strings.EqualFold(title[len(title)-len(name):], name)
}

// longestRun is the number of words in the longest part of a message that a text
// has word for word, up to maxRunWords.
func (t *Scanner) longestRun(text string) int {
	t.readText(text)
	best, before := 0, 0
	for i, n := range t.text {
		for _, p := range t.positions[n] {
			if p.before != 0 && p.before == before || len(p.following) <= best {
				continue // a part of a run that was counted, or too short
			}
			best = max(best, commonPrefix(p.following, t.text[i:]))
		}
		before = n
	}
	return best
}

// readText makes t.text the numbers of a text's words, 0 for those that no
// message has.
func (t *Scanner) readText(text string) {
	t.text, t.word = t.text[:0], t.word[:0]
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_':
			t.word = append(t.word, byte(r))
		case isWordRune(r):
			t.word = utf8.AppendRune(t.word, unicode.ToLower(r))
		case len(t.word) > 0:
			t.endWord()
		}
	}
	if len(t.word) > 0 {
		t.endWord()
	}
}

func (t *Scanner) endWord() {
	t.text = append(t.text, t.numbers[string(t.word)])
	t.word = t.word[:0]
}

// commonPrefix is the length of what two lists begin with.
func commonPrefix(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// letters is s in lower case with blanks for what is not a letter or a digit.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, s)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
