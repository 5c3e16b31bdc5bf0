package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readVSCode reads an event of VS Code's own agent.
func (e *Event) readVSCode(f rawjson.Fields) {
	input := f.Raw("tool_input")
	if e.ClientTool == "fetch_webpage" {
		in := parseInput(input)
		var requests []Request
		for _, url := range in.Strings("urls") {
			requests = append(requests, Request{Tool: WebFetch, Fetch: Fetch{URL: url, Prompt: in.String("query")}})
		}
		e.Tool = WebFetch
		e.setRequests(requests)
		return
	}
	e.Tool = commonTool(e.ClientTool, "run_in_terminal", Bash, "replace_string_in_file", Edit, "create_file", Write)
	e.readInput(input)
	e.readFailure(f, exitCodeFailure(f.Raw("tool_response")))
}
