package passage

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// A Definition is the part of a text that describes a term: the item of an option in a list, a
// keyword with the indented lines below it, or one of several sections.
type Definition struct {
	Term  string // without markup
	Start int    // offset of the term's line in the text
	Line  int    // number of lines above it in the text
}

// longestTerm is the maximum length of a line that is a term, in bytes.
const longestTerm = 100

// Define returns the definition in a text whose term a query names: it has all words of one of
// the term's names. Of several, it returns the first one with the most words.
func Define(text, query string) (Definition, bool) {
	asked := askedWords(query)
	if len(asked) == 0 {
		return Definition{}, false
	}
	var best Definition
	most := 0
	eachTerm(text, func(term string, start int) {
		for _, name := range namesOf(term) {
			if len(name) > most && asked.have(name) {
				most, best = len(name), Definition{Term: term, Start: start}
			}
		}
	})
	best.Line = strings.Count(text[:best.Start], "\n")
	return best, most > 0
}

// DefinedNames yields the names of the terms that a text defines, if they are not words of the
// language: options, identifiers, and names of several words.
func DefinedNames(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		eachTerm(text, func(term string, start int) {
			if text[start] == '#' {
				return // a heading
			}
			for _, name := range namesOf(term) {
				if more && isDistinct(name) {
					more = yield(strings.Join(name, " "))
				}
			}
		})
	}
}

// isDistinct reports whether a name is more than a word of the language, and not a sentence.
func isDistinct(name []string) bool {
	const most = 3
	return len(name) > 1 && len(name) <= most || len(name) == 1 && isIdentifier(name[0], "")
}

// At returns the passage at a definition in its text. The term is its last heading. Its address
// leads to the definition if the anchor or the line is known.
func (p *Passage) At(d Definition) Passage {
	q := *p
	above := p.Headings
	if n := len(above); n > 0 && (strings.EqualFold(above[n-1], d.Term) ||
		slices.Contains(strings.Split(above[n-1], " / "), d.Term)) {
		above = above[:n-1]
	}
	q.Headings = append(slices.Clone(above), d.Term)
	if i := slices.IndexFunc(p.Anchors, func(anchor string) bool { return isAnchorOf(anchor, d.Term) }); i > 0 {
		q.Anchors = slices.Concat(p.Anchors[i:i+1], p.Anchors[:i], p.Anchors[i+1:])
		if page, _, ok := strings.Cut(p.URL, "#"); ok {
			q.URL = page + "#" + p.Anchors[i]
		}
	}
	if p.StartLine > 0 && p.EndLine-p.StartLine == strings.Count(p.Text, "\n") { // else lines were removed or converted
		q.StartLine += d.Line
	}
	return q
}

// isAnchorOf reports whether an anchor is that of a term: it ends with a name of it.
func isAnchorOf(anchor, term string) bool {
	anchor = strings.ToLower(anchor)
	return slices.ContainsFunc(namesOf(term), func(name []string) bool {
		before, ok := strings.CutSuffix(anchor, strings.ToLower(strings.Join(name, "-")))
		return ok && (before == "" || !isAlphanumeric(before[len(before)-1]) || !isAlphanumeric(name[0][0]))
	})
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// The words of a query, without the punctuation around them.
type words []string

func askedWords(query string) words {
	var list words
	for _, w := range strings.Fields(query) {
		if w = trimWord(w); w != "" {
			list = append(list, w)
		}
	}
	return list
}

// trimWord removes quotes, brackets and sigils around a word.
func trimWord(w string) string { return strings.Trim(w, "\"'`.,:;?!()[]{}<>$%*“”‘’") }

// have reports whether the words have all of a name. A name of one word of the language, such as
// "set", must be most of them.
func (asked words) have(name []string) bool {
	const few = 2
	distinct := len(name) > 1 || len(asked) <= few
	for _, part := range name {
		i := slices.IndexFunc(asked, func(w string) bool {
			return w == part || !strings.HasPrefix(part, "-") && strings.EqualFold(w, part)
		})
		if i < 0 {
			return false
		}
		distinct = distinct || isIdentifier(part, asked[i])
	}
	return distinct
}

// isIdentifier reports whether a name that a query writes as asked is more than a word of the
// language. Words in capitals are one only if both have them.
func isIdentifier(name, asked string) bool {
	lower, inner := false, false
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r):
			return true
		case unicode.IsLower(r):
			lower = true
		case i > 0 && unicode.IsUpper(r):
			inner = true
		}
	}
	return inner && (lower || name == asked)
}

// namesOf returns the names in a term, each as words: "-f" and "--file" of "-f, --file=FILE",
// "set-header" of "set-header <name> <fmt>". Arguments may have no brackets, so the setting
// "base-index" is another name of "base-index index".
func namesOf(term string) [][]string {
	var names [][]string
	term, _, _ = strings.Cut(strings.ReplaceAll(term, "\u00a0", " "), "  ")
	term = strings.ReplaceAll(strings.ReplaceAll(term, " or ", ", "), " / ", ", ")
	for part := range strings.SplitSeq(term, ", ") {
		var name []string
		for i, w := range strings.Fields(part) {
			if i == 0 && strings.Trim(w, "0123456789.") == "" {
				continue // number of a section
			}
			end := strings.IndexAny(w, "<[{(=…")
			if end >= 0 {
				w = w[:end]
			}
			if w = trimWord(w); w != "" {
				name = append(name, w)
			}
			if end >= 0 || strings.HasPrefix(w, "-") {
				break // arguments follow
			}
		}
		if len(name) > 0 {
			names = append(names, name)
		}
		if len(name) > 1 && isSetting(name[0]) {
			names = append(names, name[:1])
		}
	}
	return names
}

// isSetting reports whether a word is written as the name of a setting: in lower case, with a
// hyphen or underscore inside.
func isSetting(w string) bool {
	inner := strings.IndexAny(w, "-_")
	return inner > 0 && inner < len(w)-1 && strings.ToLower(w) == w && !strings.ContainsAny(w, "./:")
}

// eachTerm calls do for each term in a text, with the offset at which its definition starts. Terms
// on consecutive lines share a definition. The headings that start a text are at its start.
func eachTerm(text string, do func(term string, start int)) {
	const none = -1
	var fence codeFence
	lines := strings.SplitAfter(text, "\n")
	at, group := 0, none // group is the start of the terms on the lines above
	headed, begins := true, true
	indent := 0 // of the last line that is not blank
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		inCode := fence.next(trimmed)
		switch {
		case inCode:
			headed, begins, group = false, true, none
		case trimmed == "":
			begins, group = true, none
		default:
			term, more := markedTerm(trimmed)
			if term == "" {
				term = optionItem(trimmed)
			}
			isHeading := trimmed[0] == '#'
			if term == "" && (begins || group != none || indentOf(line) < indent) {
				term, more = plainTerm(line, lines[i+1:]), group != none && indentOf(line) == indent
			}
			headed = headed && isHeading
			switch {
			case term == "":
				group = none
			case headed:
				group = 0
			case group == none || !more:
				group = at
			}
			if term != "" {
				do(term, group)
			}
			begins, indent = isHeading, indentOf(line)
		}
		at += len(line)
	}
}

// A codeFence is the fence of the code block that contains a line, or "".
type codeFence string

// next reports whether the next line, without white space around it, belongs to a code block.
func (f *codeFence) next(line string) bool {
	switch {
	case *f != "":
		if line == string(*f) {
			*f = ""
		}
		return true
	case strings.HasPrefix(line, "```"):
		*f = codeFence(line[:len(line)-len(strings.TrimLeft(line, "`"))])
		return true
	}
	return false
}

// markedTerm returns the term that the markup of a line shows: the heading, or the code or bold
// text at the start of a list item or on a line of its own. more reports whether the line may be
// one of several terms of an item.
func markedTerm(line string) (term string, more bool) {
	if rest := strings.TrimLeft(line, "#"); len(rest) < len(line) {
		if rest == "" || rest[0] != ' ' {
			return "", false
		}
		return strings.TrimSpace(rest), false
	}
	item := line
	for _, mark := range []string{"- ", "* ", "+ "} {
		item = strings.TrimPrefix(item, mark)
	}
	for _, mark := range []string{"`", "**"} {
		if rest, ok := strings.CutPrefix(item, mark); ok {
			term, rest, ok = strings.Cut(rest, mark)
			if ok && term != "" && (len(item) < len(line) || rest == "") {
				return strings.Trim(term, "` "), len(item) == len(line)
			}
		}
	}
	return "", false
}

// optionItem returns the options of a list item without markup, such as "- -o / --output:", or "".
func optionItem(line string) string {
	item, ok := strings.CutPrefix(line, "- -")
	term, isTerm := strings.CutSuffix(item, ":")
	name := strings.TrimPrefix(term, "-")
	if !ok || !isTerm || len(term) > longestTerm || name == "" || !isAlphanumeric(name[0]) {
		return ""
	}
	return "-" + term
}

// IsTerm reports whether a line of Markdown is only a term: code or bold text, perhaps as the
// item of a list.
func IsTerm(line string) bool {
	line = strings.TrimSpace(line)
	term, _ := markedTerm(line)
	return term != "" && !strings.HasPrefix(line, "#") &&
		(strings.HasSuffix(line, "`") || strings.HasSuffix(line, "**"))
}

// ListTerm returns the term that a line of Markdown defines as the item of a list, or "".
func ListTerm(line string) string {
	line = strings.TrimSpace(line)
	if term, more := markedTerm(line); !more && !strings.HasPrefix(line, "#") {
		return term
	}
	return ""
}

// plainTerm returns the term on a line of plain text, or "". Lines that are indented further
// follow it and perhaps further terms, or its description is in a second column.
func plainTerm(line string, below []string) string {
	const mostTerms = 4
	indent := indentOf(line)
	line = strings.TrimSpace(line)
	for _, gap := range []string{"\t", "    "} {
		if term, rest, ok := strings.Cut(line, gap); ok && rest != "" && isTerm(term) {
			return term
		}
	}
	if !isTerm(line) {
		return ""
	}
	for i, next := range below[:min(mostTerms, len(below))] {
		trimmed := strings.TrimSpace(next)
		switch {
		case trimmed == "":
			if i+1 < len(below) && strings.TrimSpace(below[i+1]) != "" && indentOf(below[i+1]) > indent {
				return line
			}
			return ""
		case indentOf(next) > indent:
			return line
		case indentOf(next) < indent || !isTerm(trimmed):
			return ""
		}
	}
	return ""
}

// isTerm reports whether a line of plain text can be a term: it is short and not the end of a
// sentence.
func isTerm(line string) bool {
	return len(line) <= longestTerm && !strings.ContainsAny(line[len(line)-1:], ".,:;!?") && line[0] != '|' &&
		line[0] != '>'
}

// indentOf returns the indentation of a line in columns.
func indentOf(line string) int {
	const tab = 8
	column := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			column++
		case '\t':
			column += tab - column%tab
		default:
			return column
		}
	}
	return column
}
