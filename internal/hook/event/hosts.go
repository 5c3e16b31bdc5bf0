package event

import (
	"bytes"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// A Host is a program that runs hooks.
type Host string

const (
	Claude   Host = "claude"
	Codex    Host = "codex"
	Gemini   Host = "gemini"
	Copilot  Host = "copilot"
	OpenCode Host = "opencode"
	Qwen     Host = "qwen"
	Crush    Host = "crush"
	Cursor   Host = "cursor"
	VSCode   Host = "vscode"
	Windsurf Host = "windsurf"
	Goose    Host = "goose"
	Kiro     Host = "kiro"
)

// Hosts returns all hosts.
func Hosts() []Host {
	return []Host{Claude, Codex, Gemini, Copilot, OpenCode, Qwen, Crush, Cursor, VSCode, Windsurf, Goose, Kiro}
}

// HostNamed returns the host with a name.
func HostNamed(name string) (Host, bool) {
	h := Host(name)
	return h, slices.Contains(Hosts(), h)
}

// hostOf identifies the host by the shape of its event. OpenCode's plugin always names it.
func hostOf(f rawjson.Fields) Host {
	name := f.Text("hook_event_name")
	switch {
	case f.Raw("cursor_version", "conversation_id") != nil:
		return Cursor
	case f.Raw("agent_action_name") != nil:
		return Windsurf
	case f.Raw("hookEventName") != nil:
		return VSCode
	case f.Raw("sessionId", "toolName") != nil:
		return Copilot
	case f.Raw("event") != nil && f.Raw("working_dir", "matcher_context") != nil:
		return Goose
	case f.Raw("event") != nil && name == "":
		return Crush
	case strings.HasPrefix(name, "Before"), strings.HasPrefix(name, "After"), name == "PreCompress":
		return Gemini
	case name == "agentSpawn", name == "preToolUse", name == "postToolUse", name == "userPromptSubmit":
		return Kiro
	case bytes.HasPrefix(f.Raw("timestamp"), []byte(`"`)): // a time in ISO 8601
		switch {
		case f.Raw("permission_mode") != nil:
			return Qwen
		case f.Raw("transcript_path") != nil:
			return Gemini
		}
		return Copilot
	case f.Raw("model") != nil && f.Raw("turn_id", "permission_mode") != nil: // Claude Code sends at most one of them
		return Codex
	}
	return Claude
}

// read translates the event to Claude Code's terms.
func (e *Event) read(f rawjson.Fields) {
	switch e.Host {
	case Codex:
		e.readCodex(f)
	case Gemini:
		e.readGemini(f)
	case Copilot:
		e.readCopilot(f)
	case OpenCode:
		e.readOpenCode(f)
	case Qwen:
		e.readQwen(f)
	case Crush:
		e.readCrush(f)
	case Cursor:
		e.readCursor(f)
	case VSCode:
		e.readVSCode(f)
	case Windsurf:
		e.readWindsurf(f)
	case Goose:
		e.readGoose(f)
	case Kiro:
		e.readKiro(f)
	default:
		e.readClaude(f)
	}
}
