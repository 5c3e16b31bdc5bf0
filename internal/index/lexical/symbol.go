package lexical

import (
	"iter"
	"strings"
	"unicode"
)

// A symbol is a name that a passage defines.
type symbol struct {
	name string
	kind nameKind
}

type nameKind uint8

const (
	wholeName  nameKind = iota
	nameSuffix          // a common short form: path.join and join of os.path.join
	pageName            // the subject of its page: a module, program or command
	casedName           // a whole name that is written as a type's, with its case
)

// term returns the index term of a symbol. It has the letters, digits and other signs of
// the name, without separators: "create table" and CREATE_TABLE are createtable. Only the
// term of a casedName keeps the case.
func (s symbol) term() string {
	name := withoutSeparators(s.name)
	switch s.kind {
	case casedName:
		if len(name) > maxTerm-2 {
			return ""
		}
		return string(symbolMark) + "^" + name
	case nameSuffix:
		name = "." + name
	case pageName:
		name = ":" + name
	}
	return exactTerm(symbolMark, name)
}

// withoutSeparators removes the separators from a name, unless it has nothing else.
func withoutSeparators(name string) string {
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		if strings.IndexByte("_-.: ", name[i]) < 0 {
			b = append(b, name[i])
		}
	}
	if len(b) == 0 {
		return name
	}
	return string(b)
}

// symbols returns the names that a passage defines according to its title and anchors:
// those in the title "os.path.join(path, *paths)" or, of several definitions in one
// passage, "append(x) / clear()"; that of the anchor #os.path.join; those of headings
// above it whose anchor the passage has.
func symbols(f *Fields) []symbol {
	var names []symbol
	add := func(name string) {
		if !isName(name) {
			return
		}
		names = append(names, symbol{name, wholeName})
		if isTypeName(name) {
			names = append(names, symbol{name, casedName})
		}
		last := strings.LastIndexAny(name, ".:")
		if last <= 0 || last == len(name)-1 {
			return
		}
		if i := strings.LastIndexAny(strings.TrimRight(name[:last], ":"), ".:"); i > 0 {
			names = append(names, symbol{name[i+1:], nameSuffix})
		}
		names = append(names, symbol{name[last+1:], nameSuffix})
	}
	anchors := f.Anchors
	if _, anchor, ok := strings.Cut(f.Address, "#"); ok {
		anchors = append([]string{anchor}, anchors...)
	}
	for _, anchor := range anchors {
		add(anchor)
	}
	for title := range strings.SplitSeq(f.Title, " / ") {
		if !strings.HasPrefix(title, "-") {
			add(titleName(title))
		}
		for option := range options(title) {
			add(option)
		}
	}
	for _, heading := range f.Path {
		slug := slugLetters(heading)
		for _, anchor := range anchors {
			if slug != "" && slugLetters(anchor) == slug {
				add(titleName(heading))
				break
			}
		}
	}
	if name := pageTitleName(f.Page); name != "" && isTopOfPage(f, name) {
		names = append(names, symbol{name, pageName})
	}
	return names
}

// listedNames yields the names that a text defines in rows of tables and items of lists:
//
//	| `json_agg` ( `anyelement` ) → `json`; `jsonb_agg` ( `anyelement` ) → `jsonb`; Collects ... |
//	| `--quiet` | Suppresses messages. |
//	- **core.autocrlf**: Converts line endings.
//	- `\dt[S+] [ pattern ]` `\dv[S+] [ pattern ]`: Lists tables, views.
//
// and those of functions that its code declares without a body, as headers of C do.
func listedNames(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		at, code := 0, false
		for line := range strings.Lines(text) {
			at += len(line)
			var names []string
			if strings.HasPrefix(line, "```") {
				code = !code
			} else if code {
				names = []string{declaredName(line, text[at:])}
			} else if row, ok := strings.CutPrefix(line, "| "); ok {
				cell, _, _ := strings.Cut(row, " | ")
				for signature := range strings.SplitSeq(cell, "; ") {
					name, _ := signatureName(signature, true)
					names = append(names, name)
				}
			} else if item, ok := strings.CutPrefix(line, "- "); ok {
				names = itemNames(item)
			}
			for _, name := range names {
				if name != "" && !yield(name) {
					return
				}
			}
		}
	}
}

// declaredName returns the name of the function whose declaration starts with a line of code, or
// "". rest is the text after the line.
func declaredName(line, rest string) string {
	const longest = 1000 // bytes of a declaration
	before, parameters, ok := strings.Cut(line, "(")
	space := strings.LastIndexAny(before, " *")
	if !ok || space <= 0 || strings.TrimLeft(before, " \t") != before ||
		strings.ContainsAny(before, "=.,:;{}()<>\"'`#/") {
		return ""
	}
	word, _, _ := strings.Cut(before, " ")
	switch name := before[space+1:]; {
	case !isName(name) || !strings.Contains(name, "_") || strings.ToUpper(word) == word && !strings.Contains(word, "_"):
		return "" // a query language is often in capitals
	case word == "return" || word == "await" || word == "new" || word == "throw" || word == "yield" || word == "delete":
		return ""
	default:
		declaration := parameters + rest[:min(len(rest), longest)]
		if end := strings.IndexAny(declaration, ";{`"); end < 0 || declaration[end] != ';' {
			return ""
		}
		return name
	}
}

// itemNames returns the names at the start of a list item, if it is a function's signature or
// only names and remarks in parentheses precede a colon.
func itemNames(item string) (names []string) {
	const leastItem = 60 // bytes; shorter ones are entries of a table of contents
	name, rest := signatureName(item, false)
	if strings.HasPrefix(rest, " ( ") {
		return []string{name}
	}
	for ; rest != "" && len(item) >= leastItem; name, rest = signatureName(rest, false) {
		names = append(names, name)
		if rest[0] == ':' || strings.HasPrefix(rest, " (") && strings.Contains(rest, "):") {
			return names
		}
		rest = strings.TrimLeft(rest, ", ")
	}
	return nil
}

// signatureName returns the name at the start of a signature that is written as code or bold,
// and what follows. The name is "" if it may be a word: without parameters it must have other
// characters than letters. In the code of a list item, parameters are those of a call.
func signatureName(signature string, inTable bool) (name, rest string) {
	separators := nameSigns
	code, ok := strings.CutPrefix(signature, "`")
	if ok {
		code, rest, ok = strings.Cut(code, "`")
	} else if code, ok = strings.CutPrefix(signature, "**"); ok {
		separators = "_.:"
		code, rest, ok = strings.Cut(code, "**")
	}
	if !ok {
		return "", ""
	}
	name, parameters := code, ""
	if i := strings.IndexAny(code, " ([=<"); i > 0 {
		name, parameters = code[:i], code[i:]
	}
	isCall := strings.HasPrefix(parameters, "(") && (!inTable || strings.ContainsAny(parameters, "'\""))
	isFunction := strings.HasPrefix(parameters, "(") || strings.HasPrefix(rest, " ( ")
	isPlain := !strings.ContainsAny(name, separators) && !strings.HasPrefix(name, "-")
	if isCall || !isFunction && isPlain || !isName(name) || !strings.ContainsFunc(name, unicode.IsLetter) {
		return "", rest
	}
	return name, rest
}

// isTopOfPage reports whether a passage starts the page about a name: it is directly below
// the page's title, or in the first section, which has the page's anchor if no text
// follows the title itself.
func isTopOfPage(f *Fields, name string) bool {
	if len(f.Path) != 1 {
		return len(f.Path) == 0
	}
	_, anchor, _ := strings.Cut(f.Address, "#")
	slug := slugLetters(name)
	return strings.EqualFold(f.Title, "name") || slug != "" && strings.HasSuffix(slugLetters(anchor), slug)
}

// pageTitleName returns the name that is a page's subject according to its title, or "":
// argparse for "argparse — Parser for command-line options", hstore for "F.17. hstore",
// git-add for "git-add(1)", "CREATE TABLE" for itself.
func pageTitleName(title string) string {
	if number, rest, ok := strings.Cut(title, ". "); ok && strings.ContainsAny(number, "0123456789") &&
		!strings.Contains(number, " ") {
		title = rest
	}
	for _, separator := range [...]string{" — ", " – ", " -- ", " - ", ": "} {
		if name, _, ok := strings.Cut(title, separator); ok {
			title = name
			break
		}
	}
	title, _, _ = strings.Cut(strings.TrimRight(title, "¶# "), "(")
	if !isName(strings.ReplaceAll(title, " ", "_")) || strings.Contains(title, " ") && strings.ToUpper(title) != title {
		return ""
	}
	return title
}

// options yields the command-line options of a title, as in "-m <text>, --message=<text>",
// without their arguments.
func options(title string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for option := range strings.SplitSeq(title, ", ") {
			if !strings.HasPrefix(option, "-") {
				continue
			}
			if end := strings.IndexAny(option, " =[<"); end > 0 {
				option = option[:end]
			}
			if !yield(option) {
				return
			}
		}
	}
}

// titleName returns the name at the beginning of a title, or "".
func titleName(title string) string {
	title = strings.TrimRight(strings.TrimSpace(title), "¶#")
	if hasLeadingSign(title) {
		name, _, _ := strings.Cut(title, " ")
		name, _, _ = strings.Cut(name, "[")
		return name
	}
	if number, rest, ok := strings.Cut(title, ") "); ok && strings.HasPrefix(number, "(") {
		title = rest // "(5) SQLITE_BUSY"
	}
	name, rest, _ := strings.Cut(title, "(")
	name = strings.TrimSpace(name)
	if rest != "" || !strings.Contains(name, " ") {
		// In a signature, the words before the name describe its kind.
		return name[strings.LastIndexByte(name, ' ')+1:]
	}
	return ""
}

// nameSigns are characters that names have and words have not: max_size, --quiet, \copy, %Y.
const nameSigns = "_-.:\\%"

// hasLeadingSign reports whether s starts with the sign of the commands of interactive programs,
// as \copy, or of conversion specifications, as %Y.
func hasLeadingSign(s string) bool { return len(s) > 1 && (s[0] == '\\' || s[0] == '%') }

// isName reports whether s may be an identifier of a program.
func isName(s string) bool {
	if s == "" || len(s) > maxTerm {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || classify(rune(c)) != classWord && strings.IndexByte(".:-$#@+!?\\%", c) < 0 {
			return false
		}
	}
	return true
}

// isTypeName reports whether the last component of a name is written as that of a type or
// module: it starts with a capital and has small letters. The case of other names is often
// a matter of style.
func isTypeName(name string) bool {
	last := name[strings.LastIndexAny(name, ".:")+1:]
	return last != "" && isUpper(last[0]) && strings.ContainsFunc(last, unicode.IsLower)
}

// slugLetters returns the letters and digits of a heading in lower case, as slugs keep
// them.
func slugLetters(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; isLower(c|0x20) || isDigit(c) {
			b = append(b, c|0x20)
		}
	}
	return string(b)
}
