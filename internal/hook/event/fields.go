package event

import (
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// nameByShape names an event without a name by its other fields. An event that shows no
// name gets none, and the hook ignores it.
func (e *Event) nameByShape(f rawjson.Fields) {
	switch {
	case e.Name != "":
	case e.ClientTool != "" && f.Raw("toolResult", "tool_result", "tool_response") != nil:
		e.Name = PostToolUse
	case e.ClientTool != "" && f.Raw("error") != nil:
		e.Name = PostToolUseFailure
	case e.ClientTool != "":
		e.Name = PreToolUse
	case f.Raw("agentName") != nil:
		e.Name = SubagentStart
	case e.Source != "":
		e.Name = SessionStart
	case f.Raw("prompt") != nil:
		e.Name = UserPromptSubmit
	case e.Reason != "":
		e.Name = SessionEnd
	}
}

// commonTool returns Claude Code's name of a tool. own has the names of the host's own
// tools, each followed by that of Claude Code; the other names are those that several hosts
// share.
func commonTool(name string, own ...string) string {
	for i := 0; i < len(own); i += 2 {
		if own[i] == name {
			return own[i+1]
		}
	}
	switch name {
	case "web_search":
		return WebSearch
	case "web_fetch":
		return WebFetch
	case "bash", "shell", "run_shell_command":
		return Bash
	case "edit":
		return Edit
	case "write", "write_file":
		return Write
	case "read":
		return Read
	}
	return name
}

// readInput reads the arguments of the event's tool. The names of a file's arguments
// differ between hosts, but none has two meanings.
func (e *Event) readInput(input []byte) {
	in := parseInput(input)
	switch e.Tool {
	case WebSearch:
		e.Search = Search{
			Query:   in.String("query"),
			Allowed: in.Strings("allowed_domains"),
			Blocked: in.Strings("blocked_domains"),
		}
	case WebFetch:
		e.Fetch = Fetch{in.String("url"), in.String("prompt")}
	case Bash:
		e.Command = Command{in.String("command"), in.String("description")}
	case Edit, MultiEdit, NotebookEdit, Read, Write:
		e.File.Path = in.String("file_path", "filePath", "path", "notebook_path")
		e.File.Text = rawjson.Prefix(in.Raw("new_string", "newString", "new_str", "new_str_1", "new_text", "content",
			"file_text", "file_content", "new_source"), maxText)
		if edits, err := rawjson.List(in.Raw("edits")); err == nil {
			for _, edit := range edits {
				if room := maxText - len(e.File.Text); room > 0 {
					text := rawjson.Prefix(parseInput(edit).Raw("new_string"), maxText)
					e.File.Text += text[:min(len(text), room)] + "\n"
				}
			}
		}
	default:
		if e.Name == PreToolUse {
			if text, ok := rawjson.String(input); ok {
				input = []byte(text)
			}
			e.Input = string(input)
		}
	}
}

// setRequests sets the searches and pages of a web call. The texts of several are joined,
// so that Search and Fetch still distinguish calls.
func (e *Event) setRequests(requests []Request) {
	if len(requests) == 1 {
		e.Tool, e.Search, e.Fetch = requests[0].Tool, requests[0].Search, requests[0].Fetch
		return
	}
	var queries, urls, prompts []string
	for _, r := range requests {
		if r.Tool == WebSearch {
			queries = append(queries, r.Search.Query)
			e.Search.Allowed = append(e.Search.Allowed, r.Search.Allowed...)
			continue
		}
		urls, prompts = append(urls, r.Fetch.URL), append(prompts, r.Fetch.Prompt)
	}
	e.Several = requests
	switch {
	case len(queries) > 0:
		e.Tool, e.Search.Query = WebSearch, strings.Join(append(queries, urls...), "\n")
	case len(urls) > 0:
		e.Tool, e.Fetch = WebFetch, Fetch{strings.Join(urls, " "), strings.Join(prompts, "\n")}
	}
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// parseInput reads a tool's arguments. Anything that is not an object counts as empty.
func parseInput(input []byte) rawjson.Fields {
	if text, ok := rawjson.String(input); ok { // some versions wrap the arguments in a string
		input = []byte(text)
	}
	fields, err := rawjson.Object(input)
	if err != nil {
		return nil
	}
	return fields
}

// readFailure sets the error output of a tool that failed. For a command whose host has no
// event for that, output is the output if the result reports a failure.
func (e *Event) readFailure(f rawjson.Fields, output string) {
	switch {
	case e.Name == PostToolUseFailure:
		e.Failure = rawjson.Prefix(f.Raw("error", "error_message"), maxText)
	case e.Name == PostToolUse && e.Tool == Bash:
		e.Failure = output
	}
}

// exitCodeFailure returns the output of a command if its result has an exit code other
// than 0.
func exitCodeFailure(result []byte) string {
	r := parseInput(result)
	switch r.Text("exit_code", "exitCode", "returncode") {
	case "", "0":
		return ""
	}
	var parts []string
	for _, name := range []string{"stderr", "stdout", "output"} {
		if s := strings.TrimSpace(rawjson.Prefix(r.Raw(name), maxText)); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}
