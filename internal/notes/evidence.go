package notes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Evidence describes the overlap between a failure and a passage.
type Evidence struct {
	Share   float64 // weighted share of the messages' words that the passage contains
	Rarity  float64 // of these words, see Entry.Rarity
	Defines float64 // 1 if the passage is about an error code in the messages, less for another name
	Name    string  // the name or code that the passage is about
	Titled  bool    // a message contains the passage's title or heading
	Run     int     // length in words of the longest common phrase
}

// A Scanner collects the evidence for passages about a failure. It is not safe for
// concurrent use.
type Scanner struct {
	names     []failureName
	messages  [][]string       // words of each message
	numbers   map[string]int   // IDs of the messages' words, from 1
	positions [][]wordPosition // occurrences of each word, by ID
	word      []byte           // the current word in readText
	text      []int            // IDs of the text's words
}

// A failureName is a name in a failure. code reports that it is an error code.
type failureName struct {
	text string
	code bool
}

// A wordPosition is an occurrence of a word in a message.
type wordPosition struct {
	before    int   // ID of the previous word, or 0
	following []int // IDs of this word and the next ones, at most maxRunWords
}

// Scanner returns a scanner for the failure.
func (f *Failure) Scanner() *Scanner {
	t := &Scanner{numbers: map[string]int{}, positions: make([][]wordPosition, 1)}
	for _, name := range f.Names {
		t.names = append(t.names, failureName{name, isCode(name) || isException(name)})
	}
	for _, m := range f.Messages {
		words := strings.Fields(normalizeText(m))
		t.messages = append(t.messages, words)
		t.addPositions(words)
	}
	return t
}

// addPositions records the words of a message.
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

// Scan returns the evidence for a passage. The caller sets Share and Rarity.
func (t *Scanner) Scan(p *passage.Passage) Evidence {
	trace := Evidence{Run: t.longestRun(p.Text), Titled: containsTitle(p, t.messages)}
	for _, name := range t.names {
		weight := 0.
		switch defined := documents(p, name.text); {
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
	// fullRarity is the rarity of a passage's words from which Share counts in full.
	fullRarity         = .6
	fullRarityIfCommon = 1.5
	// minRunWords is the length from which a common phrase counts.
	minRunWords = 4
	runWeight   = .1
	// titleWeight is the weight of a title in a message; a code has weight 1.
	titleWeight   = .3
	maxCountedRun = 6
	// maxRunWords is the length up to which a longer phrase counts more.
	maxRunWords = minRunWords + maxCountedRun
)

// Score returns how likely the passage is about the failure, from 0 up; about 0.4 is
// sufficient. A common failure requires more.
func (t Evidence) Score(common bool) float64 {
	enough := fullRarity
	if common {
		enough = fullRarityIfCommon
	}
	if t.Titled {
		t.Defines = max(t.Defines, titleWeight)
	}
	return t.Share*min(1, t.Rarity/enough) + t.Defines +
		runWeight*float64(min(max(0, t.Run-minRunWords), maxCountedRun))
}

// containsTitle reports whether one of the messages contains the title of the passage's
// document or its heading, if that has several words.
func containsTitle(p *passage.Passage, messages [][]string) bool {
	titles := []string{p.Title}
	if n := len(p.Headings); n > 0 {
		titles = append(titles, strings.Split(p.Headings[n-1], " / ")...)
	}
	for _, title := range titles {
		words := strings.Fields(normalizeText(title))
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

// Common reports whether the cause is in the program or its environment: an exception of
// the language, a failed test, an unreachable host. Documentation rarely helps with these,
// so strong evidence is required.
func (f *Failure) Common() bool {
	if len(f.Messages) == 0 || f.TestFailed {
		return f.TestFailed
	}
	name, _, _ := strings.Cut(f.Messages[0], " ")
	if isGenericName(name) && name != "Error" && name != "ERROR" {
		return true
	}
	return slices.ContainsFunc(f.Messages, func(m string) bool {
		return containsAny(strings.ToLower(m),
			"not resolve host", "n't resolve host", "name resolution", "name or service not known",
			"network is unreachable", "getaddrinfo",
			"no space left on device", "disk quota exceeded", "command not found", "(publickey",
		)
	})
}

// containsName reports whether text contains a name that is not part of a longer one.
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

// documents reports whether a passage is the documentation of a name, by its document's
// title, its heading or an anchor.
func documents(p *passage.Passage, name string) bool {
	if titleMatches(p.Title, name) {
		return true
	}
	if n := len(p.Headings); n > 0 {
		for part := range strings.SplitSeq(p.Headings[n-1], " / ") {
			if titleMatches(part, name) {
				return true
			}
		}
	}
	for _, anchor := range p.Anchors {
		if strings.EqualFold(anchor, name) ||
			len(anchor) > len(name) && anchor[len(anchor)-len(name)-1] == '.' &&
				strings.EqualFold(anchor[len(anchor)-len(name):], name) {
			return true
		}
	}
	return false
}

// titleMatches reports whether a title is a name or its signature.
func titleMatches(title, name string) bool {
	title, _, _ = strings.Cut(strings.TrimRight(title, "¶#"), "(")
	title = strings.TrimSpace(title)
	if i := strings.LastIndexByte(title, ' '); i >= 0 {
		title = title[i+1:]
	}
	return strings.EqualFold(title, name) ||
		len(title) > len(name) && title[len(title)-len(name)-1] == '.' &&
			strings.EqualFold(title[len(title)-len(name):], name)
}

// longestRun returns the length in words of the longest phrase that a text and a message
// have in common, up to maxRunWords.
func (t *Scanner) longestRun(text string) int {
	t.readText(text)
	best, before := 0, 0
	for i, n := range t.text {
		for _, p := range t.positions[n] {
			if p.before != 0 && p.before == before || len(p.following) <= best {
				continue // part of a run that is already counted, or too short
			}
			best = max(best, commonPrefix(p.following, t.text[i:]))
		}
		before = n
	}
	return best
}

// readText sets t.text to the IDs of a text's words, 0 for words that no message contains.
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

// commonPrefix returns the length of the common prefix.
func commonPrefix(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// normalizeText returns s in lower case, with spaces for all characters except letters, digits
// and underscores.
func normalizeText(s string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, s)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
