package inject

import (
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// A Trace is what of a failure a passage has.
type Trace struct {
	Share   float64 // of the messages' telling words, those in the passage
	Rarity  float64 // of these, as in an Entry
	Defines float64 // 1 if it is about a code in the messages, less if about another name
	Name    string  // it is about
	Titled  bool    // a message has its title or heading word for word
	Run     int     // words of a message that it has word for word
}

// Trace finds what of the failure a passage has. The caller fills in Share and
// Rarity.
func (f *Failure) Trace(p *passage.Passage) Trace {
	messages := make([][]string, len(f.Messages))
	for i, m := range f.Messages {
		messages[i] = strings.Fields(letters(m))
	}
	t := Trace{Run: longestRun(p.Text, messages), Titled: quotesTitle(p, messages)}
	for _, name := range f.Names {
		code := isCode(name) || isException(name)
		weight := 0.
		switch {
		case defines(p, name) && code:
			weight = 1
		case code && containsName(p.Text, name):
			weight = .7
		case defines(p, name):
			weight = .4
		}
		if weight > t.Defines {
			t.Defines, t.Name = weight, name
		}
	}
	return t
}

const (
	// The rarity of the words that a passage must have for their share to count
	// in full.
	enoughRarity   = .6
	enoughIfCommon = 1.5
	// A message that a passage has word for word counts from minRun words on.
	minRun    = 4
	runWeight = .1
	// titleWeight is what a title in a message counts, of 1 for a code.
	titleWeight = .3
	maxRun      = 6
)

// Evidence is how likely a passage with this trace is about the failure, from 0
// up; about .4 is enough. Of a common failure the passage must have more.
func (t Trace) Evidence(common bool) float64 {
	enough := enoughRarity
	if common {
		enough = enoughIfCommon
	}
	if t.Titled {
		t.Defines = max(t.Defines, titleWeight)
	}
	return t.Share*min(1, t.Rarity/enough) + t.Defines + runWeight*float64(min(max(0, t.Run-minRun), maxRun))
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

// Common reports whether the failure is one that a program has for reasons of its
// own, or that of its surroundings: an exception of the language, a test that
// fails, a machine that does not answer. The documentation of the program says nothing that helps,
// so that only strong evidence counts.
func (f *Failure) Common() bool {
	if len(f.Messages) == 0 || f.Tested {
		return f.Tested
	}
	name, _, _ := strings.Cut(f.Messages[0], " ")
	if isUsual(name) && name != "Error" && name != "ERROR" {
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
// has word for word, up to a limit.
func longestRun(text string, messages [][]string) int {
	const (
		longest = minRun + maxRun
		places  = 32 // of a word that are looked at
	)
	words := strings.Fields(letters(text))
	at := map[string][]int{}
	for i, w := range words {
		if len(at[w]) < places {
			at[w] = append(at[w], i)
		}
	}
	best := 0
	for _, m := range messages {
		for i := range m {
			for _, j := range at[m[i]] {
				n := 0
				for n < longest && i+n < len(m) && j+n < len(words) && m[i+n] == words[j+n] {
					n++
				}
				best = max(best, n)
			}
		}
	}
	return best
}

// letters is s in lower case with blanks for what is not a letter or a digit.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			return unicode.ToLower(r)
		}
		return ' '
	}, s)
}
