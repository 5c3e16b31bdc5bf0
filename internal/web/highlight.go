package web

import (
	"html/template"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A language is what highlight knows of a language: how comments begin and which words
// are keywords. Names and operators look alike in all languages.
type language struct {
	line   []string    // beginnings of comments that end with the line
	block  [][2]string // beginnings and ends of other comments
	quotes string      // characters around strings
	words  map[string]bool
}

// languages returns the languages by their names in code fences. It is made at first use.
var languages = sync.OnceValue(func() map[string]*language {
	const cWords = "abstract as async await bool break case catch char class const continue default defer delete do double else enum export " +
		"extends false final finally float for from func function go if implements import in instanceof int interface let long " +
		"match mut namespace new nil null package private protected pub public return select self short signed sizeof static " +
		"string struct super switch template this throw true try type typedef typeof undefined union unsigned use using var " +
		"virtual void volatile while yield fn impl trait mod override val when object chan map range fallthrough goto extern"
	const hashWords = "and as assert async await begin break case class continue def del do done elif else elsif end esac except export false " +
		"False fi finally for from function global if import in is lambda local module None nil nonlocal not null or pass raise " +
		"rescue return self set source then true True try unless until while with yield FROM RUN COPY ADD CMD ENTRYPOINT ENV " +
		"WORKDIR ARG"
	const sqlWords = "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct " +
		"drop else end exists explain foreign from full grant group having if in index inner insert into is join key left like " +
		"limit not null offset on or order outer primary references revoke right rollback select set table then transaction union " +
		"unique update using values view when where with"
	byName := map[string]*language{}
	for _, l := range []struct {
		language
		words, names string
	}{
		{language{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: "\"'`"}, cWords,
			"c c++ cc cpp cs csharp css cuda d dart go golang glsl groovy h hpp java javascript js jsonc json5 jsx kotlin kt less node " +
				"objc objective-c php proto protobuf rs rust scala scss solidity swift ts tsx typescript v zig"},
		{language{line: []string{"#"}, quotes: `"'`}, hashWords,
			"bash cmake conf coffee console containerfile dockerfile elixir fish gitignore hcl ini julia make makefile nginx nix perl pl " +
				"powershell properties ps1 py pycon python python3 r rb ruby sh shell shell-session terraform tf toml tcl yaml yml zsh"},
		{language{line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, quotes: `'"`},
			sqlWords + " " + strings.ToUpper(sqlWords),
			"mysql plsql postgres postgresql psql sql sqlite"},
		{language{block: [][2]string{{"<!--", "-->"}}, quotes: `"`}, "", "html htm svg vue xhtml xml"},
		{language{quotes: `"`}, "true false null", "json ndjson"},
		{language{line: []string{"--"}, quotes: `"'`},
			"and break case data do else elseif end false for function if import in let local module nil not of or repeat return then true type until where while",
			"ada elm haskell hs lua vhdl"},
		{language{line: []string{";"}, quotes: `"`},
			"cond def defmacro defn defun do fn if import lambda let quote require",
			"asm clj clojure commonlisp elisp lisp racket scheme"},
	} {
		l.language.words = map[string]bool{}
		for word := range strings.FieldsSeq(l.words) {
			l.language.words[word] = true
		}
		for name := range strings.FieldsSeq(l.names) {
			byName[name] = &l.language
		}
	}
	return byName
})

// highlight returns code as HTML, with its comments, strings, numbers and keywords in
// spans. It does not parse the code, so it can take one for another.
func highlight(code, name string) string {
	code = strings.ToValidUTF8(code, "\uFFFD")
	l := languages()[strings.ToLower(name)]
	if l == nil {
		return template.HTMLEscapeString(code)
	}
	var b strings.Builder
	plainFrom := 0
	for i := 0; i < len(code); {
		class, n := l.token(code[i:], i == 0 || strings.IndexByte(" \t\n(", code[i-1]) >= 0)
		if class != "" {
			b.WriteString(template.HTMLEscapeString(code[plainFrom:i]))
			b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(code[i:i+n]) + "</span>")
			plainFrom = i + n
		}
		i += n
	}
	b.WriteString(template.HTMLEscapeString(code[plainFrom:]))
	return b.String()
}

// token returns the class and the length of the token at the start of code, which is not
// empty. separate reports that it follows white space: "#" within a word begins no comment.
func (l *language) token(code string, separate bool) (class string, n int) {
	for _, c := range l.block {
		if strings.HasPrefix(code, c[0]) {
			if end := strings.Index(code[len(c[0]):], c[1]); end >= 0 {
				return "comment", len(c[0]) + end + len(c[1])
			}
			return "comment", len(code)
		}
	}
	for _, c := range l.line {
		if separate && strings.HasPrefix(code, c) {
			return "comment", lineEnd(code)
		}
	}
	r, size := utf8.DecodeRuneInString(code)
	switch {
	case strings.ContainsRune(l.quotes, r):
		if n := stringEnd(code); n > 0 {
			return "string", n
		}
		return "", size
	case isWord(r):
		n := strings.IndexFunc(code, func(r rune) bool { return !isWord(r) && r != '.' })
		if n < 0 || !unicode.IsDigit(r) {
			n = wordEnd(code)
		}
		switch {
		case unicode.IsDigit(r):
			return "number", n
		case l.words[code[:n]]:
			return "keyword", n
		}
		return "", n
	}
	return "", size
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordEnd(code string) int {
	if n := strings.IndexFunc(code, func(r rune) bool { return !isWord(r) }); n >= 0 {
		return n
	}
	return len(code)
}

func lineEnd(code string) int {
	if n := strings.IndexByte(code, '\n'); n >= 0 {
		return n
	}
	return len(code)
}

// stringEnd returns the length of the string at the start of code, or 0 if it does not end
// on its line: then its quote is an apostrophe.
func stringEnd(code string) int {
	for i := 1; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case code[0]:
			return i + 1
		case '\n':
			if code[0] != '`' {
				return 0
			}
		}
	}
	return 0
}
