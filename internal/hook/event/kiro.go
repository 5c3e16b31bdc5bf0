package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readKiro reads an event of Kiro.
func (e *Event) readKiro(f rawjson.Fields) {
	e.nameByShape(f)
	switch e.ClientTool {
	case "execute_bash":
		e.Tool = Bash
	case "fs_write":
		e.Tool = Write
	case "fs_read":
		e.Tool = Read
	default:
		e.Tool = commonTool(e.ClientTool)
	}
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, exitCodeFailure(f.Raw("tool_response")))
}
