package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readQwen reads an event of Qwen Code, which sends Claude Code's events with Gemini CLI's
// tools.
func (e *Event) readQwen(f rawjson.Fields) {
	e.Tool = geminiTool(e.ClientTool)
	e.readInput(f.Raw("tool_input"))
	e.readFailure(f, contentFailure(f.Raw("tool_response")))
}
