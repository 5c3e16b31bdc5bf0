package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readCrush reads an event of Crush.
func (e *Event) readCrush(f rawjson.Fields) {
	input := f.Raw("tool_input")
	switch e.ClientTool {
	case "fetch":
		e.Tool = WebFetch
	case "agentic_fetch":
		e.Tool = WebFetch
		if in := parseInput(input); in.String("url") == "" { // its subagent searches the web
			e.Tool, e.Search.Query = WebSearch, in.String("prompt")
			return
		}
	case "multiedit":
		e.Tool = MultiEdit
	default:
		e.Tool = commonTool(e.ClientTool)
	}
	e.readInput(input)
}
