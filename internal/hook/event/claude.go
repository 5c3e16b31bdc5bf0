package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readClaude reads an event of Claude Code, or of an unknown host that sends the same
// fields.
func (e *Event) readClaude(f rawjson.Fields) {
	e.nameByShape(f)
	e.Tool = commonTool(e.ClientTool)
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, exitCodeFailure(f.Raw("tool_response", "tool_result", "tool_output")))
}
