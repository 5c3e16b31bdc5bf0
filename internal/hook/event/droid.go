package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readDroid reads an event of Droid, which sends Claude Code's fields with its own tools. It
// runs no hook after a command that has failed.
func (e *Event) readDroid(f rawjson.Fields) {
	e.Tool = commonTool(e.ClientTool, "Execute", Bash, "FetchUrl", WebFetch, "Create", Write)
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, "")
}
