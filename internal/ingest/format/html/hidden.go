package html

import (
	"strings"
	"unicode/utf8"
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

// isHidden reports whether readers can never see element i. Elements that a
// control on the page can show are not hidden.
func (x *extractor) isHidden(i int32) bool {
	var shown bool
	for _, a := range x.t.nodes[i].attrs {
		switch a.key {
		case "hidden":
			shown = shown || a.val != "until-found"
		case "style":
			shown = shown || hidesElement(a.val)
		case "aria-hidden":
			// Visible, but not read aloud: ornaments, or text that the page
			// repeats elsewhere.
			const ornament = 200
			if a.val == "true" && x.t.shorter(i, ornament) {
				return true
			}
		}
	}
	return shown && x.t.attr(i, "role") != "tabpanel" && !x.isControlled(x.t.attr(i, "id"))
}

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
				case "aria-controls", "data-target", "data-bs-target":
					for name := range strings.FieldsSeq(a.val) {
						x.controls[strings.TrimPrefix(name, "#")] = true
					}
				case "onclick":
					for name := range strings.FieldsFuncSeq(a.val, func(r rune) bool { return strings.ContainsRune(`'"(),; #`, r) }) {
						x.controls[name] = true
					}
				}
			}
		}
	}
	return x.controls[id]
}

// hidesElement reports whether a style attribute makes an element invisible.
func hidesElement(style string) bool {
	if !strings.ContainsAny(style, ":") {
		return false
	}
	var color, background string
	for decl := range strings.SplitSeq(strings.ToLower(style), ";") {
		prop, val, _ := strings.Cut(decl, ":")
		val = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(val), "!important"))
		hides := false
		switch strings.TrimSpace(prop) {
		case "display":
			hides = val == "none"
		case "visibility":
			hides = val == "hidden" || val == "collapse"
		case "font-size", "opacity", "max-height", "max-width", "zoom":
			hides = strings.Trim(val, "0.pxemrt%") == "" && val != ""
		case "text-indent", "left", "right", "top", "bottom", "margin-left", "margin-top":
			hides = strings.HasPrefix(val, "-") && len(strings.TrimRight(val, "pxemrt%")) > len("-999")
		case "clip":
			hides = strings.HasPrefix(strings.ReplaceAll(val, " ", ""), "rect(0")
		case "clip-path":
			hides = strings.HasPrefix(val, "inset(50%") || strings.HasPrefix(val, "inset(100%")
		case "color":
			color = val
		case "background", "background-color":
			background = val
		}
		if hides {
			return true
		}
	}
	return color != "" && (color == background || color == "transparent")
}

// hiddenText returns the invisible text: in the content, text of some length;
// elsewhere, text that mentions assistants.
func (x *extractor) hiddenText(root int32) []string {
	var found []string
	keep := func(s string) {
		if len(found) < mostHidden {
			found = append(found, shorten(s, maxHiddenBytes))
		}
	}
	for _, c := range x.t.comments {
		if MentionsAssistant(c) {
			keep(collapse(c))
		}
	}
	for i := int32(0); i < int32(len(x.t.nodes)); i++ {
		n := &x.t.nodes[i]
		inside := i >= root && i < x.t.nodes[root].end
		if !n.element || !inside && !x.isHidden(i) || inside && n.flags&hidden == 0 {
			continue
		}
		text := collapse(x.t.rawText(i))
		words := strings.Count(text, " ") + 1
		if aria := x.t.attr(i, "aria-hidden") == "true"; inside && !aria && words >= fewestHiddenWords || MentionsAssistant(text) {
			keep(text)
		}
		i = n.end - 1
	}
	return found
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
