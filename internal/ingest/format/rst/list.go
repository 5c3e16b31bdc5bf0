package rst

import (
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// list parses a bulleted or numbered list.
func (p *parser) list(lines []mdwriter.Line) int {
	n, items := 0, 0
	for n < len(lines) {
		width, mark := marker(lines[n].Text)
		if width == 0 {
			break
		}
		// Without an indented next line, "A. " may begin a sentence.
		if next := n + 1; n == 0 && mark != "- " && next < len(lines) && lines[next].Text != "" &&
			indentOf(lines[next].Text) == 0 {
			if w, _ := marker(lines[next].Text); w == 0 {
				return 0
			}
		}
		end := n + 1 + indented(lines[n+1:])
		if items++; mark == "#. " {
			mark = strconv.Itoa(items) + ". "
		}
		item := append([]mdwriter.Line{{Text: strings.TrimLeft(lines[n].Text[min(width, len(lines[n].Text)):], " "),
			From: lines[n].From}}, mdwriter.Dedent(lines[n+1:end])...)
		if n > 0 && lines[n-1].Text != "" {
			p.w.Tight()
		}
		p.w.Push(mark, strings.Repeat(" ", len(mark)))
		p.body(item, false)
		p.w.Pop()
		n = end + mdwriter.Blank(lines[end:])
	}
	return n
}

// marker returns the length of a list marker and its Markdown form; 0 if there
// is none.
func marker(s string) (int, string) {
	if s == "" {
		return 0, ""
	}
	for _, bullet := range []string{"-", "*", "+", "•", "‣", "⁃"} {
		if rest, ok := strings.CutPrefix(s, bullet); ok && (rest == "" || rest[0] == ' ') {
			return len(bullet) + 1, "- "
		}
	}
	open := 0
	if s[0] == '(' {
		open = 1
	}
	i := open
	for i < len(s) && i < open+5 && isAlphanumeric(s[i]) {
		i++
	}
	number := s[open:i]
	if open < len(s) && s[open] == '#' {
		number, i = "#", open+1
	}
	if number == "" || i >= len(s) || s[i] != ')' && (s[i] != '.' || open > 0) || i+1 < len(s) && s[i+1] != ' ' {
		return 0, ""
	}
	if number != "#" && !isEnumerator(number) {
		return 0, ""
	}
	return i + 2, number + ". "
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isEnumerator reports whether s is a number, a single letter, or a Roman
// numeral.
func isEnumerator(s string) bool {
	return len(s) == 1 || strings.Trim(s, "0123456789") == "" || strings.Trim(s, "ivx") == "" ||
		strings.Trim(s, "IVX") == ""
}

// fields parses a field list, ":name: text".
func (p *parser) fields(lines []mdwriter.Line) int {
	n := 0
	for n < len(lines) {
		name, rest, ok := field(lines[n].Text)
		if !ok {
			break
		}
		end := n + 1 + indented(lines[n+1:])
		if keepsField(name) {
			if n > 0 {
				p.w.Tight()
			}
			p.w.Push("- ", "  ")
			body := append([]mdwriter.Line{{Text: "**" + fieldName(name) + "**: " + rest, From: lines[n].From}},
				mdwriter.Dedent(lines[n+1:end])...)
			p.body(body, false)
			p.w.Pop()
		}
		n = end + mdwriter.Blank(lines[end:])
	}
	return n
}

// field splits ":name: text".
func field(s string) (name, rest string, ok bool) {
	if len(s) < 3 || s[0] != ':' || s[1] == ':' || s[1] == ' ' {
		return "", "", false
	}
	end := strings.Index(s[1:], ":")
	if end < 0 {
		return "", "", false
	}
	name, rest = s[1:1+end], s[2+end:]
	if rest != "" && rest[0] != ' ' { // a role: :func:`f`
		return "", "", false
	}
	return name, strings.TrimSpace(rest), true
}

// keepsField reports whether a field is for readers. Others configure Sphinx.
func keepsField(name string) bool {
	switch name {
	case "orphan", "nocomments", "tocdepth", "nosearch", "no-search", "hide-toc", "html_theme.sidebar_secondary.remove":
		return false
	}
	return true
}

// fieldName returns the label of a field as function documentation shows it.
func fieldName(name string) string {
	kind, argument, _ := strings.Cut(name, " ")
	shown, ok := map[string]string{
		"param": "", "parameter": "", "arg": "", "argument": "", "key": "", "keyword": "", "type": "type of ",
		"ivar": "", "var": "", "cvar": "", "raises": "raises ", "raise": "raises ", "exception": "raises ",
		"except": "raises ",
		"rtype":  "return type", "returns": "returns", "return": "returns",
	}[kind]
	if !ok && argument != "" { // of Sphinx's HTTP domain
		shown, ok = map[string]string{
			"<header": "request header ", "reqheader": "request header ",
			">header": "response header ", "resheader": "response header ",
			"<json": "request JSON ", "reqjson": "request JSON ",
			"<jsonarr": "request JSON array ", "reqjsonarr": "request JSON array ",
			">json": "response JSON ", "resjson": "response JSON ",
			">jsonarr": "response JSON array ", "resjsonarr": "response JSON array ",
			"query": "query parameter ", "form": "form parameter ",
			"code": "status ", "status": "status ", "statuscode": "status ",
		}[kind]
	}
	if !ok {
		return name
	}
	return strings.TrimSpace(shown + argument)
}

// options parses a list of command-line options with descriptions.
func (p *parser) options(lines []mdwriter.Line) int {
	n := 0
	for n < len(lines) {
		option, rest, ok := optionItem(lines[n].Text)
		end := n + 1 + indented(lines[n+1:])
		if !ok || rest == "" && end == n+1 {
			break
		}
		if n > 0 {
			p.w.Tight()
		}
		p.w.Push("- ", "  ")
		first := "``" + option + "``"
		body := mdwriter.Dedent(lines[n+1 : end])
		if rest != "" {
			first += "  " + rest
		} else {
			body = append([]mdwriter.Line{{From: lines[n].From}}, body...)
		}
		p.body(append([]mdwriter.Line{{Text: first, From: lines[n].From}}, body...), false)
		p.w.Pop()
		n = end + mdwriter.Blank(lines[end:])
	}
	return n
}

// optionItem splits "-x, --long ARG text".
func optionItem(s string) (option, rest string, ok bool) {
	if len(s) < 2 || s[0] != '-' || s[1] == ' ' || strings.Trim(s, "-") == "" {
		return "", "", false
	}
	option, rest, _ = strings.Cut(s, "  ")
	return option, strings.TrimSpace(rest), true
}
