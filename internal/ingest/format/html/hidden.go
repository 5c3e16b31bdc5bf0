package html

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// A page can contain text for programs that readers do not see, in hidden
// elements and comments. Such text is not content; it is kept separately for
// warnings.

// Limits for hidden text.
const (
	fewestHiddenWords = 4
	mostHidden        = 20
	maxHiddenBytes    = 500 // bytes
)

// isControlled reports whether a control on the page shows and hides the element
// with that id.
func (x *extractor) isControlled(id string) bool {
	if id == "" {
		return false
	}
	if x.controls == nil {
		x.controls = map[string]bool{}
		for i := range x.t.nodes {
			for _, a := range x.t.nodes[i].attrs {
				switch a.key {
				case "aria-controls", "data-target", "data-bs-target", "popovertarget", "commandfor":
					for name := range strings.FieldsSeq(a.val) {
						x.controls[strings.TrimPrefix(name, "#")] = true
					}
				case "onclick":
					for name := range strings.FieldsFuncSeq(a.val,
						func(r rune) bool { return strings.ContainsRune(`'"(),; #`, r) }) {
						x.controls[name] = true
					}
				}
			}
		}
	}
	return x.controls[id]
}

// hiddenText returns the invisible text: in the content, text of some length;
// elsewhere, text that mentions assistants, also if readers can bring it up.
func (x *extractor) hiddenText(root int32) []string {
	var found []string
	keep := func(s string) {
		if len(found) < mostHidden {
			found = append(found, shorten(s, maxHiddenBytes))
		}
	}
	isLong := func(s string) bool { return strings.Count(s, " ")+1 >= fewestHiddenWords }
	for _, c := range x.t.comments {
		if MentionsAssistant(c) {
			keep(collapse(c))
		}
	}
	for _, s := range x.emptied {
		if s = collapse(s); isLong(s) || MentionsAssistant(s) {
			keep(s)
		}
	}
	for i := int32(0); i < int32(len(x.t.nodes)); i++ {
		n := &x.t.nodes[i]
		inside := i >= root && i < x.t.nodes[root].end
		if !n.element || n.flags&(invisible|doubtful) == 0 && !isInert(n.tag) {
			continue
		}
		text := collapse(x.t.rawText(i))
		if inside && n.flags&hidden != 0 && x.t.attr(i, "aria-hidden") != "true" && isLong(text) ||
			MentionsAssistant(text) {
			keep(text)
		}
		i = n.end - 1
	}
	return found
}

// isInert reports whether browsers do not show the text of such elements.
func isInert(tag atom.Atom) bool {
	switch tag {
	case atom.Template, atom.Noscript, atom.Noembed, atom.Noframes, atom.Iframe, atom.Datalist, atom.Dialog:
		return true
	}
	return false
}

// MentionsAssistant reports whether text mentions or addresses AI assistants.
// In visible text that is normal; in invisible text it is suspicious.
func MentionsAssistant(text string) bool {
	text = strings.ToLower(text)
	for _, phrase := range [...]string{
		"ai assistant", "ai agent", "ai model", "ai system", "an ai", "coding agent", "coding assistant",
		"language model", "llm", "chatgpt", "claude", "copilot", "gemini", "gpt", "chatbot", "system prompt",
		"previous instructions", "prior instructions", "above instructions", "all instructions", "your instructions",
		"new instructions", "you are a helpful", "as an assistant", "if you are an assistant", "tell the user",
		"inform the user", "the user's request",
	} {
		for rest := text; ; {
			i := strings.Index(rest, phrase)
			if i < 0 {
				break
			}
			if end := i + len(phrase); !isLetter(rest, i-1) &&
				(!isLetter(rest, end) || rest[end] == 's' && !isLetter(rest, end+1)) {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// isLetter reports whether there is a letter at index i.
func isLetter(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= utf8.RuneSelf)
}

// shorten truncates s to at most n bytes at a character boundary.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// collapse trims s and collapses runs of white space to one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }
