package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readCrush reads an event of Crush.
func (e *Event) readCrush(f rawjson.Fields) {
	input := f.Raw("tool_input")
	e.Tool = commonTool(e.ClientTool, "fetch", WebFetch, "agentic_fetch", WebFetch, "multiedit", MultiEdit)
	if e.ClientTool == "agentic_fetch" {
		if in := parseInput(input); in.String("url") == "" { // its subagent searches the web
			e.Tool, e.Search.Query = WebSearch, in.String("prompt")
			return
		}
	}
	e.readInput(input)
}
