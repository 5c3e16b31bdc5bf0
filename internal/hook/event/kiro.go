package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readKiro reads an event of Kiro.
func (e *Event) readKiro(f rawjson.Fields) {
	e.nameByShape(f)
	e.Tool = commonTool(e.ClientTool, "execute_bash", Bash, "fs_write", Write, "fs_read", Read)
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, exitCodeFailure(f.Raw("tool_response")))
}
