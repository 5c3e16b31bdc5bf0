package event

import (
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// readCline reads an event of Cline. docsearch's plugin sends Claude Code's event names and
// keys with Cline's tool names and arguments. The programs that Cline runs as hooks get
// events of another form, which they answer in another form, too.
func (e *Event) readCline(f rawjson.Fields) {
	input, output := f.Raw("tool_input"), f.Raw("tool_response")
	if e.Unnamed = e.Name == ""; e.Unnamed {
		e.Name = clineEvent(f.Text("hookName"))
		if task := f.Text("taskId"); task != "" {
			e.Session = task
		}
		if f.Text("parent_agent_id") == "" {
			e.Agent = "" // that of the main thread
		}
		if roots := f.Strings("workspaceRoots"); len(roots) > 0 {
			e.Cwd = roots[0]
		}
		call := parseInput(f.Raw("tool_call", "tool_result"))
		e.ClientTool, e.Use = call.Text("name"), call.Text("id")
		input, output = call.Raw("input"), call.Raw("output")
	}
	e.Tool = commonTool(e.ClientTool, "fetch_web_content", WebFetch, "run_commands", Bash, "editor", Edit,
		"read_files", Read)
	in := parseInput(input)
	switch e.ClientTool {
	case "fetch_web_content":
		e.setRequests(clineFetches(in))
	case "run_commands":
		e.Command.Line = strings.Join(in.Strings("commands"), "\n")
		if e.Name == PostToolUse {
			e.Failure = clineFailure(output)
		}
	default:
		e.readInput(input)
	}
}

// clineEvent returns Claude Code's name of an event of a program that Cline runs as a hook.
func clineEvent(name string) string {
	switch name {
	case "tool_call", PreToolUse:
		return PreToolUse
	case "tool_result", PostToolUse:
		return PostToolUse
	case "agent_start", "agent_resume":
		return SessionStart
	case "prompt_submit":
		return UserPromptSubmit
	case "session_shutdown":
		return SessionEnd
	}
	return name
}

// clineFetches returns the pages of a fetch.
func clineFetches(in rawjson.Fields) (requests []Request) {
	items, err := rawjson.List(in.Raw("requests"))
	if err != nil {
		return nil
	}
	for _, item := range items {
		page := parseInput(item)
		if url := page.String("url"); url != "" {
			requests = append(requests, Request{Tool: WebFetch, Fetch: Fetch{URL: url, Prompt: page.String("prompt")}})
		}
	}
	return requests
}

// clineFailure returns the output of the first command that failed.
func clineFailure(output []byte) string {
	results, err := rawjson.List(output)
	if err != nil {
		return ""
	}
	for _, r := range results {
		result := parseInput(r)
		if string(result.Raw("success")) == "false" {
			return rawjson.Prefix(result.Raw("result"), maxText)
		}
	}
	return ""
}
