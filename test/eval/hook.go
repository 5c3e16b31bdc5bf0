package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A hook runs docsearch hook like a client, with its own config file and home folder.
// Each event has its own session, so that replies are independent.
type hook struct {
	lab    *harness
	folder string
	events int
}

// A reply is the hook's output for an event.
type reply struct {
	Denied  bool
	Reason  string
	Context string
}

// newHook creates a folder in the cache for a hook with this config file.
func (l *harness) newHook(name string, c configuration) (*hook, error) {
	h := &hook{lab: l, folder: filepath.Join(l.cache, "hooks", name)}
	if err := os.RemoveAll(h.folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(h.folder, 0o755); err != nil {
		return nil, err
	}
	_, err := c.write(h.folder)
	return h, err
}

// ask sends an event and returns the reply. Any output on standard error except the
// reason of a denial is an error, because a failing hook lets the call run without a
// decision.
func (h *hook) ask(event map[string]any) (reply, error) {
	h.events++
	event["session_id"] = fmt.Sprintf("eval-%d", h.events)
	input, err := json.Marshal(event)
	if err != nil {
		return reply{}, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(h.lab.ctx, h.lab.program, "hook")
	cmd.Dir, cmd.Env = h.folder, h.environment()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 2 && stdout.Len() > 0) {
		return reply{}, fmt.Errorf("docsearch hook: %w: %s", err, &stderr)
	}
	if stdout.Len() == 0 && stderr.Len() > 0 {
		return reply{}, fmt.Errorf("docsearch hook: %s", &stderr)
	}
	return decodeReply(stdout.Bytes())
}

// askSearch sends a web search, limited to domains if there are any.
func (h *hook) askSearch(query string, domains ...string) (reply, error) {
	input := map[string]any{"query": query}
	if len(domains) > 0 {
		input["allowed_domains"] = domains
	}
	r, err := h.ask(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "WebSearch", "prompt_id": "p", "cwd": h.folder, "tool_input": input})
	if err != nil {
		err = fmt.Errorf("%q: %w", query, err)
	}
	return r, err
}

// environment returns the process's environment without docsearch's variables.
func (h *hook) environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DOCSEARCH_") && !strings.HasPrefix(v, "CLAUDE_") && !strings.HasPrefix(v, "XDG_") {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+h.folder, "USERPROFILE="+h.folder, "DOCSEARCH_DATA="+h.lab.data,
		"DOCSEARCH_CONFIG_PATH="+filepath.Join(h.folder, "config.json"), "DOCSEARCH_STATE_DIR="+filepath.Join(h.folder, "state"),
		"DOCSEARCH_CACHE_DIR="+filepath.Join(h.folder, "cache"))
}

func decodeReply(stdout []byte) (reply, error) {
	if len(stdout) == 0 {
		return reply{}, nil
	}
	var out struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		return reply{}, fmt.Errorf("docsearch hook printed %q: %w", stdout, err)
	}
	return reply{Denied: out.Output.Decision == "deny", Reason: out.Output.Reason, Context: out.Output.Context}, nil
}

var (
	// place matches the anchor or the line of a source.
	place = regexp.MustCompile(`(#[^#]*|:\d+)$`)
	// pageAbove matches the heading of a passage of the page above, with its anchor or line.
	pageAbove = regexp.MustCompile(`^\[\d+\] \.\.\. > .*?(?: \((#[^#]*|:\d+)\))?\n$`)
)

// sources returns the sources of the quoted passages, in their order: URLs or paths, with
// an anchor or a line.
func sources(context string) []string {
	var list []string
	page := ""
	for line := range strings.Lines(context) {
		if m := pageAbove.FindStringSubmatch(line); m != nil {
			list = append(list, page+m[1])
			continue
		}
		source, ok := strings.CutPrefix(line, "Source: ")
		if !ok {
			continue
		}
		source, _, _ = strings.Cut(strings.TrimSpace(source), " (") // a file or a label
		if rest, ok := strings.CutPrefix(source, "..."); ok {
			source = page + rest
		}
		page = place.ReplaceAllString(source, "")
		list = append(list, source)
	}
	return list
}
