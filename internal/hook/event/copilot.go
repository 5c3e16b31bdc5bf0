package event

import (
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// readCopilot reads an event of Copilot CLI, which has two forms. With the names of Claude
// Code's events in its config, it sends these names and Claude Code's tool names.
// Otherwise it sends keys in camel case without an event name, and its own tool names. VS
// Code runs the same hooks.
func (e *Event) readCopilot(f rawjson.Fields) {
	if f.Raw("hookEventName") != nil && f.Raw("sessionId") != nil {
		e.Host = VSCode
		e.readVSCode(f)
		return
	}
	e.Unnamed = e.Name == ""
	e.nameByShape(f)
	e.Tool = commonTool(e.ClientTool, "create", Write)
	e.readInput(f.Raw("tool_input", "toolArgs"))
	if e.AgentType == "" {
		e.AgentType = f.Text("agentName")
	}
	e.readFailure(f, copilotFailure(parseInput(f.Raw("tool_result", "toolResult"))))
}

// copilotFailure returns the output of a failed command. The result's type reports
// success for these; only the last line of the text has the exit code.
func copilotFailure(result rawjson.Fields) string {
	text := strings.TrimSpace(rawjson.Prefix(result.Raw("text_result_for_llm", "textResultForLlm"), maxText))
	output, last := "", text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		output, last = text[:i], text[i+1:]
	}
	_, code, ok := strings.Cut(last, " completed with exit code ")
	if !ok || !strings.HasPrefix(last, "<") || strings.TrimRight(code, ">") == "0" {
		return ""
	}
	return output
}
