package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readVSCode reads an event of VS Code's own agent.
func (e *Event) readVSCode(f rawjson.Fields) {
	input := f.Raw("tool_input")
	switch e.ClientTool {
	case "fetch_webpage":
		in := parseInput(input)
		var requests []Request
		for _, url := range in.Strings("urls") {
			requests = append(requests, Request{Tool: WebFetch, Fetch: Fetch{URL: url, Prompt: in.String("query")}})
		}
		e.Tool = WebFetch
		e.setRequests(requests)
		return
	case "run_in_terminal":
		e.Tool = Bash
	case "replace_string_in_file":
		e.Tool = Edit
	case "create_file":
		e.Tool = Write
	default:
		e.Tool = commonTool(e.ClientTool)
	}
	e.readInput(input)
	e.readFailure(f, exitCodeFailure(f.Raw("tool_response")))
}
