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
	Grok     Host = "grok"
	Droid    Host = "droid"
	Devin    Host = "devin"
	Cline    Host = "cline"
	Auggie   Host = "auggie"
)

// Hosts returns all hosts.
func Hosts() []Host {
	return []Host{
		Claude, Codex, Gemini, Copilot, OpenCode, Qwen, Crush, Cursor, VSCode, Windsurf, Goose, Kiro, Grok, Droid, Devin,
		Cline, Auggie,
	}
}

// HostNamed returns the host with a name. Kilo Code is built on OpenCode and runs the same
// plugin.
func HostNamed(name string) (Host, bool) {
	h := Host(name)
	if h == "kilo" {
		h = OpenCode
	}
	return h, slices.Contains(Hosts(), h)
}

// An Environ is what the environment of a hook shows.
type Environ struct {
	// Host is the host whose variables are set, for hosts that run the hooks in Claude Code's
	// settings. A program inherits the variables of the host that started it, so they decide
	// only about an event that has no other host's fields.
	Host Host
	// Unattended reports that nobody can be asked for a permission.
	Unattended bool
}

// ReadEnviron reads the environment of a hook.
func ReadEnviron(getenv func(string) string) (e Environ) {
	switch {
	case getenv("GROK_SESSION_ID") != "":
		e.Host = Grok
	case getenv("DEVIN_PROJECT_DIR") != "":
		e.Host = Devin
	}
	e.Unattended = getenv("CLAUDE_CODE_SESSION_ATTENDED") == "0"
	return e
}

// hostOf identifies the host by the shape of its event, and by the environment of the hook
// if two hosts have the same. The plugins for OpenCode and Cline always name it.
func hostOf(f rawjson.Fields, environ Host) Host {
	name, other := f.Text("hook_event_name"), f.Text("hookEventName")
	switch {
	case f.Raw("hookName") != nil && f.Raw("taskId") != nil:
		return Cline
	case f.Raw("conversation_id") != nil && f.Raw("cursor_version", "generation_id") == nil && isCommonName(name):
		return Auggie
	case f.Raw("cursor_version", "conversation_id") != nil:
		return Cursor
	case f.Raw("agent_action_name") != nil:
		return Windsurf
	case other != "" && (name != "" || environ == Grok):
		return Grok
	case other != "" && f.Raw("sessionId") != nil:
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
	return claudeOr(f, environ)
}

// isCommonName reports whether the name of an event begins as those of Claude Code do.
func isCommonName(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// claudeOr identifies the host of an event in Claude Code's form.
func claudeOr(f rawjson.Fields, environ Host) Host {
	transcript := f.Raw("transcript_path")
	switch mode := f.Text("permission_mode"); {
	case mode == "off", mode == "spec", strings.HasPrefix(mode, "auto-"), bytes.Contains(transcript, []byte("/.factory/")):
		return Droid
	case environ == Devin && transcript == nil: // Claude Code always sends it
		return Devin
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
	case Grok:
		e.readGrok(f)
	case Droid:
		e.readDroid(f)
	case Devin:
		e.readDevin(f)
	case Cline:
		e.readCline(f)
	case Auggie:
		e.readAuggie(f)
	default:
		e.readClaude(f)
	}
}
