package event

import (
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// readCursor reads an event of Cursor. The name of an MCP tool lacks its server.
func (e *Event) readCursor(f rawjson.Fields) {
	if e.Name == "beforeSubmitPrompt" {
		e.Name = UserPromptSubmit
	}
	e.nameByShape(f)
	e.Tool = commonTool(e.ClientTool)
	switch tool, ok := strings.CutPrefix(e.ClientTool, "MCP:"); {
	case ok && (tool == "search" || tool == "read"):
		e.Tool = "mcp__docsearch__" + tool
	case e.ClientTool == "Shell":
		e.Tool = Bash
	}
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, exitCodeFailure(f.Raw("tool_output", "tool_response")))
}
