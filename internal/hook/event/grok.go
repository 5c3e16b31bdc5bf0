package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readGrok reads an event of Grok Build, which sends Claude Code's fields and their copies
// in camel case. A call of an MCP tool has its arguments inside those of use_tool. Earlier
// versions send the copies alone.
func (e *Event) readGrok(f rawjson.Fields) {
	if e.Use == "" {
		e.Use = f.Text("toolUseId")
	}
	e.Tool = commonTool(e.ClientTool, "run_terminal_command", Bash, "search_replace", Edit, "read_file", Read)
	input := f.Raw("tool_input", "toolInput")
	if inner := parseInput(input).Raw("tool_input"); inner != nil && e.Tool == e.ClientTool {
		input = inner
	}
	e.readInput(input)
	e.readFailure(f, grokFailure(parseInput(f.Raw("tool_response", "toolResult"))))
}

// grokFailure returns the output of a failed command, which is also there as a list of bytes.
func grokFailure(result rawjson.Fields) string {
	if code := result.Text("exit_code"); code == "" || code == "0" {
		return ""
	}
	return rawjson.Prefix(result.Raw("output_for_prompt"), maxText)
}
