package rst

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// inline converts the text of a paragraph to Markdown. It keeps its lines.
func (p *parser) inline(s string) string {
	if !strings.ContainsAny(s, "`|_\\:*") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			// An escaped character stands for itself; an escaped space is
			// removed.
			if s[i+1] != ' ' && s[i+1] != '\n' {
				b.WriteByte(s[i+1])
			}
			i += 2
			continue
		case c == ':' && beginsMarkup(s, i):
			if text, n := p.role(s[i:]); n > 0 {
				b.WriteString(text)
				i += n
				continue
			}
		case c == '`' && beginsMarkup(s, i):
			if text, n := p.quoted(s[i:], ""); n > 0 {
				b.WriteString(text)
				i += n
				continue
			}
		case c == '|' && beginsMarkup(s, i):
			if text, n := p.substitution(s[i:]); n > 0 {
				b.WriteString(text)
				i = afterReference(s, i+n)
				continue
			}
		case c == '_' && i > 0 && endsReference(s, i):
			// The suffix of a named reference: word_ or word__.
			for i < len(s) && s[i] == '_' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// substitution returns the text for the substitution at the start of s, and the length of
// its name with the bars, or 0.
func (p *parser) substitution(s string) (text string, n int) {
	const longest = 100
	end := strings.IndexByte(s[1:min(len(s), 1+longest)], '|')
	if end <= 0 {
		return "", 0
	}
	text, ok := p.substitutions[s[1:1+end]]
	if !ok || p.budget < len(text) {
		return "", 0
	}
	p.budget -= len(text)
	return text, end + 2
}

// beginsMarkup reports whether a mark at s[i] may begin markup: not within a
// word, and not before a space.
func beginsMarkup(s string, i int) bool {
	if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' {
		return false
	}
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before)
}

// endsMarkup reports whether markup may end before s[i]: not within a word.
func endsMarkup(s string, i int) bool {
	after, n := utf8.DecodeRuneInString(s[i:])
	return n == 0 || after != '`' && !unicode.IsLetter(after) && !unicode.IsDigit(after)
}

// endsReference reports whether the underscores at s[i] end a reference or a
// footnote's number.
func endsReference(s string, i int) bool {
	if c := s[i-1]; !isAlphanumeric(c) && c != ']' {
		return false
	}
	const longest = 100
	begin := i
	for begin > max(0, i-longest) && (isAlphanumeric(s[begin-1]) || s[begin-1] == '_') {
		begin--
	}
	if begin < i && s[begin] == '_' { // __init__ is a name
		return false
	}
	end := i
	for end < len(s) && s[end] == '_' {
		end++
	}
	if end-i > 2 {
		return false
	}
	if end == len(s) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(s[end:])
	if unicode.IsLetter(after) || unicode.IsDigit(after) || strings.ContainsRune(`*("/=[{<`, after) {
		return false
	}
	// PATH_* and file_.txt are not references.
	return after != '.' || end+1 == len(s) || s[end+1] == ' ' || s[end+1] == '\n'
}

// afterReference returns the index after the underscores at s[i].
func afterReference(s string, i int) int {
	for n := 0; n < 2 && i < len(s) && s[i] == '_'; n++ {
		i++
	}
	return i
}

// role parses :name:`text`.
func (p *parser) role(s string) (string, int) {
	const longest = 40
	for i := 1; i < min(len(s), longest); i++ {
		switch c := s[i]; {
		case c == ':' && i > 1 && i+1 < len(s) && s[i+1] == '`':
			text, n := p.quoted(s[i+1:], s[1:i])
			if n == 0 {
				return "", 0
			}
			return text, i + 1 + n
		case !isAlphanumeric(c) && strings.IndexByte(":-_+.", c) < 0:
			return "", 0
		}
	}
	return "", 0
}

// maxMarkup limits the search for the end of markup.
const maxMarkup = 500

// quoted parses text between backquotes: literal text between double ones, else
// text with a role.
func (p *parser) quoted(s, role string) (string, int) {
	window := s[:min(len(s), maxMarkup)]
	if role == "" && strings.HasPrefix(s, "``") {
		end := strings.Index(window[2:], "``")
		if end <= 0 {
			return "", 0
		}
		end += 4
		if end < len(s) && s[end] == '`' { // ```` a`` ````: the literal ends with a backquote
			end++
		}
		return mdwriter.CodeSpan(s[2 : end-2]), end
	}
	end := 1
	for end < len(window) && !(window[end] == '`' && window[end-1] != ' ' && endsMarkup(s, end+1)) {
		if window[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(window) || end == 1 {
		return "", 0
	}
	text, n := s[1:end], end+1
	if role == "" {
		if after := afterReference(s, n); after > n {
			shown, target := splitTarget(text)
			return unescape(cmp.Or(shown, target)), after
		}
		if strings.HasPrefix(s[n:], ":") { // a role may follow
			if i := strings.IndexByte(s[n+1:min(len(s), n+42)], ':'); i > 0 &&
				strings.Trim(s[n+1:n+1+i], "abcdefghijklmnopqrstuvwxyz-:") == "" {
				return p.formatRole(text, s[n+1:n+1+i]), n + i + 2
			}
		}
		return mdwriter.CodeSpan(unescape(text)), n
	}
	return p.formatRole(text, role), n
}

// splitTarget splits "text <target>".
func splitTarget(s string) (text, target string) {
	if !strings.HasSuffix(s, ">") {
		return s, ""
	}
	i := strings.LastIndexByte(s, '<')
	if i < 0 {
		return s, ""
	}
	return strings.TrimRight(s[:i], " \n"), s[i+1 : len(s)-1]
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == ' ' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// formatRole formats the text of a role.
func (p *parser) formatRole(text, role string) string {
	role = role[strings.LastIndexByte(role, ':')+1:]
	shown, target := splitTarget(text)
	if target == "" && (role == "ref" || role == "doc") {
		shown = cmp.Or(p.titleOf(role, text), shown)
	}
	switch role {
	case "doc", "download":
		target = cmp.Or(target, text)
		if role == "doc" && !strings.Contains(target, "://") && target != "" {
			p.w.Link(target+".rst", strings.TrimSpace(shown))
		}
	case "sup", "superscript":
		return "^" + unescape(text)
	case "sub", "subscript":
		return "_" + unescape(text)
	case "rfc", "RFC":
		if target == "" {
			return "RFC " + text
		}
	case "pep", "PEP":
		if target == "" {
			return "PEP " + text
		}
	case "math":
		return "$" + text + "$"
	case "code", "literal", "samp", "file", "command", "program", "kbd", "envvar", "option", "regexp", "makevar",
		"mimetype":
		return mdwriter.CodeSpan(unescape(cmp.Or(shown, text)))
	case "any", "ref", "numref", "term", "keyword", "token", "guilabel", "menuselection", "abbr", "dfn", "title",
		"emphasis", "strong", "abbreviation", "newsgroup", "issue", "ticket", "gh", "bpo", "issue-link", "user", "pr",
		"cve", "CVE", "eq", "index", "strike", "cite":
	default: // the name of a program element
		if target == "" {
			return mdwriter.CodeSpan(unescape(shownName(text)))
		}
		return mdwriter.CodeSpan(unescape(shown))
	}
	return unescape(cmp.Or(shown, target))
}

// shownName returns the name of a program element without the marks for its look-up:
// ~package.Class.method, .method in any class, !name without a link, _orm.Class with
// SQLAlchemy's abbreviation of a package.
func shownName(name string) string {
	if short, ok := strings.CutPrefix(name, "~"); ok {
		return short[strings.LastIndexByte(short, '.')+1:]
	}
	name = strings.TrimPrefix(name, "!")
	if short, ok := strings.CutPrefix(name, "."); ok && short != "" {
		return short
	}
	if i := strings.IndexByte(name, '.'); i > 1 && name[0] == '_' &&
		strings.Trim(name[1:i], "abcdefghijklmnopqrstuvwxyz") == "" {
		return name[i+1:]
	}
	return name
}

// gatherSubstitutions collects the substitution definitions. They may follow
// their uses.
func (p *parser) gatherSubstitutions(lines []mdwriter.Line) {
	const most, longest = 1000, 200
	for _, l := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(l.Text, " "), ".. |")
		if !ok || len(p.substitutions) == most {
			continue
		}
		name, rest, ok := strings.Cut(rest, "| replace::")
		if text := strings.TrimSpace(rest); ok && name != "" && len(text) <= longest {
			p.substitutions[name] = text
		}
	}
	// They may contain markup, but no other substitutions.
	none := parser{}
	for name, text := range p.substitutions {
		p.substitutions[name] = none.inline(text)
	}
}
