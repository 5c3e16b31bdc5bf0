package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readWindsurf reads an event of Windsurf, whose name describes the agent's action.
func (e *Event) readWindsurf(f rawjson.Fields) {
	info := parseInput(f.Raw("tool_info"))
	if e.Cwd == "" {
		e.Cwd = info.Text("cwd")
	}
	switch e.Name {
	case "pre_run_command":
		e.Tool, e.Command.Line = Bash, info.String("command_line")
	case "pre_write_code":
		e.Tool = Edit
		e.readInput(f.Raw("tool_info"))
	case "pre_mcp_tool_use":
		e.Tool = "mcp__" + info.String("mcp_server_name") + "__" + info.String("mcp_tool_name")
		e.Input = string(info.Raw("mcp_tool_arguments"))
	default:
		return
	}
	e.ClientTool, e.Name = e.Tool, PreToolUse
}
