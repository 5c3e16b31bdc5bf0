package event

import (
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// readCodex reads an event of Codex CLI. Its web tool takes several searches and pages in
// one call, its shell tool also applies patches, and the output of a command has no exit
// code.
func (e *Event) readCodex(f rawjson.Fields) {
	e.nameByShape(f)
	input := f.Raw("tool_input")
	switch e.ClientTool {
	case "webrun":
		if requests, ok := webRunRequests(parseInput(input)); ok {
			e.setRequests(requests)
			return
		}
	case "apply_patch":
		e.Tool = Edit
		e.File = patchedFile(parseInput(input).String("command", "input", "patch"))
		return
	}
	e.readInput(input)
	if e.Tool != Bash {
		return
	}
	if strings.HasPrefix(strings.TrimSpace(e.Command.Line), "apply_patch") {
		e.File = patchedFile(e.Command.Line)
	}
	if e.Name == PostToolUse {
		e.Output = rawjson.Prefix(f.Raw("tool_response"), maxText)
	}
}

// webRunRequests returns the searches and pages of a call of web.run. It returns false if
// the call contains anything else, such as a click on a link of an earlier result.
func webRunRequests(in rawjson.Fields) (requests []Request, ok bool) {
	for _, field := range in {
		items, err := rawjson.List(field.Value)
		if err != nil {
			if _, err := rawjson.Object(field.Value); err == nil {
				return nil, false
			}
			continue // a setting, such as the length of the response
		}
		for _, item := range items {
			r, ok := webRunRequest(field.Name, parseInput(item))
			if !ok {
				return nil, false
			}
			requests = append(requests, r)
		}
	}
	return requests, len(requests) > 0
}

func webRunRequest(command string, in rawjson.Fields) (Request, bool) {
	switch command {
	case "search_query":
		r := Request{Tool: WebSearch, Search: Search{Query: in.String("q"), Allowed: in.Strings("domains")}}
		return r, r.Search.Query != ""
	case "open", "find":
		r := Request{Tool: WebFetch, Fetch: Fetch{URL: in.String("ref_id"), Prompt: in.String("pattern")}}
		return r, isURL(r.Fetch.URL) // otherwise the ID of an earlier result
	}
	return Request{}, false
}

// patchedFile returns the first file of a patch in Codex's format, and the lines that the
// patch adds.
func patchedFile(patch string) (file File) {
	var added strings.Builder
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if text, ok := strings.CutPrefix(line, "+"); ok {
			if added.Len()+len(text) < maxText {
				added.WriteString(text + "\n")
			}
			continue
		}
		for _, mark := range []string{"*** Update File: ", "*** Add File: "} {
			if path, ok := strings.CutPrefix(line, mark); ok && file.Path == "" {
				file.Path = strings.TrimSpace(path)
			}
		}
	}
	if file.Path != "" {
		file.Text = added.String()
	}
	return file
}
