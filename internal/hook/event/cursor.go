package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readCursor reads an event of Cursor. The name of an MCP tool lacks its server. Grok Build
// runs the same hooks.
func (e *Event) readCursor(f rawjson.Fields) {
	if f.Raw("hookEventName") != nil && f.Raw("hook_event_name") != nil {
		e.Host = Grok
		e.readGrok(f)
		return
	}
	if e.Name == "beforeSubmitPrompt" {
		e.Name = UserPromptSubmit
	}
	e.nameByShape(f)
	e.Tool = commonTool(e.ClientTool, "Shell", Bash, "MCP:search", "mcp__docsearch__search", "MCP:read",
		"mcp__docsearch__read")
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, exitCodeFailure(f.Raw("tool_output", "tool_response")))
}
