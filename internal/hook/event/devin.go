package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readDevin reads an event of Devin CLI, which sends Claude Code's events with its own tools,
// and no folder.
func (e *Event) readDevin(f rawjson.Fields) {
	e.Tool = commonTool(e.ClientTool, "exec", Bash, "webfetch", WebFetch)
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, devinFailure(parseInput(f.Raw("tool_response"))))
}

// devinFailure returns the output of a failed command.
func devinFailure(result rawjson.Fields) string {
	if string(result.Raw("success")) != "false" {
		return ""
	}
	if text := rawjson.Prefix(result.Raw("error"), maxText); text != "" {
		return text
	}
	return rawjson.Prefix(result.Raw("output"), maxText)
}
