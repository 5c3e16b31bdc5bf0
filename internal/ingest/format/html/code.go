package html

import (
	"cmp"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// pre writes preformatted text: a code block, or several for tabs with the same
// code in several languages.
func (x *extractor) pre(i int32) {
	var codes []int32
	for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
		n := &x.t.nodes[c]
		switch {
		case n.flags&skipped != 0, !n.element && strings.TrimSpace(n.text) == "":
		case n.tag == atom.Code && language(x.t, c) != "":
			codes = append(codes, c)
		case n.tag == atom.Pre, n.tag == atom.Input:
		default:
			codes = nil
		}
	}
	if len(codes) > 1 {
		for _, c := range codes {
			x.code(c, x.preText(c))
		}
		return
	}
	x.code(i, x.preText(i))
}

// code writes text as a fenced block.
func (x *extractor) code(i int32, text string) {
	for j := i + 1; j < x.t.nodes[i].end; j++ {
		if x.t.nodes[j].flags&skipped != 0 {
			j = x.t.nodes[j].end - 1
			continue
		}
		x.addAnchors(j)
	}
	text = strings.TrimRight(strings.TrimPrefix(text, "\n"), " \t\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	x.flushLead()
	fence := mdwriter.Fence(text)
	w := x.out()
	if x.follows(w) {
		w.gap = line
	}
	w.block(fence + language(x.t, i) + "\n" + text + "\n" + fence)
}

// preText returns the text of element i with its layout.
func (x *extractor) preText(i int32) string {
	var b strings.Builder
	for j := i; j < x.t.nodes[i].end; j++ {
		n := &x.t.nodes[j]
		switch {
		case n.flags&skipped != 0:
			j = n.end - 1
		case n.tag == atom.Br:
			b.WriteByte('\n')
		case !n.element:
			b.WriteString(n.text)
		case j > i && (n.tag == atom.Div || n.tag == atom.P || n.tag == atom.Li) && b.Len() > 0:
			if s := b.String(); s[len(s)-1] != '\n' {
				b.WriteByte('\n')
			}
		}
	}
	return replaceNBSP(b.String())
}

// linedText returns the text of element i, one line per child element.
func linedText(t *tree, i int32) string {
	var b strings.Builder
	for c := t.nodes[i].first; c != 0; c = t.nodes[c].next {
		if !t.nodes[c].element || t.nodes[c].flags&skipped != 0 {
			continue
		}
		for j := c; j < t.nodes[c].end; j++ {
			switch n := &t.nodes[j]; {
			case n.flags&skipped != 0:
				j = n.end - 1
			case !n.element:
				b.WriteString(n.text)
			}
		}
		if isBlock(t.nodes[c].tag) {
			b.WriteByte('\n')
		}
	}
	return replaceNBSP(b.String())
}

// replaceNBSP replaces no-break spaces with ordinary ones.
func replaceNBSP(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// language returns the language of a code block, as declared on the block,
// within it, or on a close ancestor.
func language(t *tree, i int32) string {
	for j := i; j < min(t.nodes[i].end, i+4); j++ {
		if l := languageOf(t, j); l != "" {
			return l
		}
	}
	const around = 4
	for j, n := t.nodes[i].parent, 0; j != 0 && n < around; j, n = t.nodes[j].parent, n+1 {
		switch t.nodes[j].tag {
		case atom.Div, atom.Pre, atom.Figure, atom.Td, atom.Tr, atom.Tbody, atom.Table:
			if l := languageOf(t, j); l != "" {
				return l
			}
		default:
			return ""
		}
	}
	return ""
}

func languageOf(t *tree, i int32) string {
	if !t.nodes[i].element {
		return ""
	}
	if l := cmp.Or(t.attr(i, "data-lang"), t.attr(i, "data-language")); l != "" {
		return languageName(l)
	}
	class := t.attr(i, "class")
	if class == "" {
		return ""
	}
	brush := false
	for word := range strings.FieldsSeq(class) {
		for _, prefix := range [...]string{"language-", "lang-", "highlight-source-", "highlight-", "src-", "brush:"} {
			if name, ok := strings.CutPrefix(word, prefix); ok && name != "" {
				return languageName(name)
			}
		}
		if brush {
			return languageName(word)
		}
		brush = word == "brush:"
	}
	// Classes that accompany the bare name of the language.
	for _, known := range [...]string{"hljs", "sourceCode", "rust", "programlisting", "shiki"} {
		if !hasWord(class, known) {
			continue
		}
		for word := range strings.FieldsSeq(class) {
			if name := languageName(word); isLanguageClass(name) {
				return name
			}
		}
	}
	return ""
}

// languageName returns the info string for a fence, "" if the class names no
// language.
func languageName(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimRight(s, ";")), ",")
	switch s {
	case "default", "none", "text", "txt", "plain", "plaintext", "plain_text", "nohighlight", "no-highlight",
		"notranslate",
		"literal-block", "output":
		return ""
	case "python3", "py", "py3", "ipython", "ipython3":
		return "python"
	case "pycon3":
		return "pycon"
	case "js":
		return "javascript"
	case "ts":
		return "typescript"
	case "rs":
		return "rust"
	case "shell-session", "shellsession":
		return "console"
	case "yml":
		return "yaml"
	}
	const longest = 24
	if len(s) > longest || strings.ContainsAny(s, "`{}<>\"'") {
		return ""
	}
	return s
}

// isLanguageClass reports whether an ambiguous class is the name of a language.
func isLanguageClass(s string) bool {
	switch s {
	case "bash", "c", "c++", "cpp", "cs", "csharp", "css", "diff", "dockerfile", "go", "haskell", "html", "ini", "java",
		"javascript", "json", "kotlin", "lua", "makefile", "markdown", "nginx", "perl", "php", "python", "r", "ruby",
		"rust", "scala", "sh", "sql", "swift", "toml", "typescript", "xml", "yaml":
		return true
	}
	return false
}
