package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readOpenCode reads an event of docsearch's plugin for OpenCode. The plugin sends Claude
// Code's event names and keys with OpenCode's tool names and arguments.
func (e *Event) readOpenCode(f rawjson.Fields) {
	e.Tool = commonTool(e.ClientTool, "websearch", WebSearch, "webfetch", WebFetch)
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, exitCodeFailure(f.Raw("tool_response")))
}
