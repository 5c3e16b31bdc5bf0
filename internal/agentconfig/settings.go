package agentconfig

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/docsearch/docsearch/internal/config/decode"
)

// An IgnoredError reports that Claude Code ignores a file: its hooks, permissions
// and servers.
type IgnoredError struct {
	Path         string
	Line, Column int
	Reason       string
	// Entry reports that Claude Code ignores only this entry. Older versions,
	// such as 2.1.197, ignore the whole file.
	Entry bool
}

func (e *IgnoredError) Error() string {
	scope := "the whole file"
	if e.Entry {
		scope = "this entry, and up to 2.1.197 the whole file"
	}
	return fmt.Sprintf("%s:%d:%d: Claude Code ignores %s: %s", e.Path, e.Line, e.Column, scope, e.Reason)
}

// checkJSON reports why Claude Code would ignore a JSON file. The file may be
// empty.
func (c *Claude) checkJSON(path string, data []byte) error {
	text, marked := bytes.CutPrefix(data, []byte(bom))
	if marked && c.Version.before(allEventsVersion) {
		return &IgnoredError{Path: path, Line: 1, Column: 1, Reason: "it starts with a byte order mark, which this version does not support"}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if err := decode.CheckJSON(text); err != nil {
		return &IgnoredError{Path: path, Line: err.Line, Column: err.Column, Reason: err.Reason}
	}
	return nil
}

// checkSettings reports why Claude Code would ignore a settings file. One invalid
// entry is enough, as measured with 2.0.30, 2.1.197, 2.1.328 and 2.1.330. Of the
// settings that do not concern docsearch, it checks only the most common ones.
func (c *Claude) checkSettings(path string, data []byte) error {
	if err := c.checkJSON(path, data); err != nil {
		return err
	}
	d, err := parse(data)
	if err != nil {
		return &IgnoredError{Path: path, Line: 1, Column: 1, Reason: err.Error()}
	}
	if fault := d.checkSettings(c.Version.before(allEventsVersion)); fault != nil {
		e := &IgnoredError{Path: path, Reason: fault.reason, Entry: fault.entry && !c.Version.before(ignoredEntriesVersion)}
		e.Line, e.Column = decode.Position(bytes.TrimPrefix(data, []byte(bom)), fault.at)
		return e
	}
	return nil
}

// A settingsFault is the reason why Claude Code ignores a settings file, and its
// position.
type settingsFault struct {
	at     int
	reason string
	entry  bool // later versions ignore only the entry
}

func faultAt(v hujson.Value, format string, args ...any) *settingsFault {
	return &settingsFault{at: v.StartOffset, reason: fmt.Sprintf(format, args...)}
}

// checkKind returns a fault unless v has the kind.
func checkKind(kind hujson.Kind, v hujson.Value, path string) *settingsFault {
	got := v.Value.Kind()
	if got == kind || kind == 't' && got == 'f' {
		return nil
	}
	return faultAt(v, "%s is %s, want %s", path, kindName(got), kindName(kind))
}

// checkSettings returns the first settingsFault, preferably one for which Claude
// Code ignores the whole file. old selects the rules of versions before
// allEventsVersion.
func (d *document) checkSettings(old bool) *settingsFault {
	var entry *settingsFault
	kinds := map[string]hujson.Kind{
		"disableAllHooks": 't', "enabledPlugins": '{', "hooks": '{', "model": '"', "permissions": '{',
	}
	for i, m := range d.top().Members {
		name := stringOf(m.Name)
		kind, known := kinds[name]
		if !known || i != d.top().index(name) { // the last of several equal names counts
			continue
		}
		if fault := checkKind(kind, m.Value, name); fault != nil {
			return fault
		}
		var fault *settingsFault
		switch name {
		case "hooks":
			fault = checkHooks(m.Value.Value.(*hujson.Object), old)
		case "permissions":
			fault = checkPermissions(m.Value.Value.(*hujson.Object))
		}
		if fault != nil && !fault.entry {
			return fault
		}
		entry = cmp.Or(entry, fault)
	}
	return entry
}

func checkPermissions(o *hujson.Object) *settingsFault {
	for _, m := range o.Members {
		if name := stringOf(m.Name); slices.Contains([]string{"allow", "deny", "ask"}, name) {
			if fault := checkStrings(m.Value, "permissions."+name); fault != nil {
				return fault
			}
		}
	}
	return nil
}

func checkStrings(v hujson.Value, path string) *settingsFault {
	return checkList(v, path, func(element hujson.Value, path string) *settingsFault { return checkKind('"', element, path) })
}

// checkList returns the first fault of a list's elements.
func checkList(v hujson.Value, path string, check func(element hujson.Value, path string) *settingsFault) *settingsFault {
	if fault := checkKind('[', v, path); fault != nil {
		return fault
	}
	for i, element := range v.Value.(*hujson.Array).Elements {
		if fault := check(element, fmt.Sprintf("%s[%d]", path, i)); fault != nil {
			return fault
		}
	}
	return nil
}

func checkHooks(events *hujson.Object, old bool) *settingsFault {
	var entry *settingsFault
	for _, event := range events.Members {
		name := stringOf(event.Name)
		first := slices.Contains(firstEvents[:], name)
		known := first || slices.Contains(laterEvents[:], name)
		switch {
		case old && !first:
			return faultAt(event.Name, "hooks.%s is an event that this version does not support", name)
		case !known || event.Value.Value.Kind() == 'n' && !old:
			continue // Claude Code skips only this event
		}
		group := func(v hujson.Value, path string) *settingsFault { return checkGroup(v, path, old) }
		if fault := checkList(event.Value, "hooks."+name, group); fault != nil {
			// Claude Code does not skip a hook that could deny a call.
			if fault.entry = name != "PreToolUse" && name != "PermissionRequest"; !fault.entry {
				return fault
			}
			entry = cmp.Or(entry, fault)
		}
	}
	return entry
}

// firstEvents are the events that 2.0.30 of Claude Code knows.
var firstEvents = [...]string{
	"PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
	"SubagentStop", "PreCompact",
}

// laterEvents are the events that only later versions know.
var laterEvents = [...]string{
	"PostToolUseFailure", "PostToolBatch", "UserPromptExpansion", "StopFailure", "SubagentStart", "PostCompact",
	"PreModelSwitch", "PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle",
	"TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate",
	"WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay",
}

func checkGroup(v hujson.Value, path string, old bool) *settingsFault {
	if fault := checkKind('{', v, path); fault != nil {
		return fault
	}
	group := object{Object: v.Value.(*hujson.Object)}
	if i := group.index("matcher"); i >= 0 {
		if fault := checkKind('"', group.Members[i].Value, path+".matcher"); fault != nil {
			return fault
		}
	}
	i := group.index("hooks")
	if i < 0 {
		return faultAt(v, "%s has no \"hooks\"", path)
	}
	return checkList(group.Members[i].Value, path+".hooks", func(handler hujson.Value, path string) *settingsFault {
		return checkHandler(handler, path, old)
	})
}

func checkHandler(v hujson.Value, path string, old bool) *settingsFault {
	if fault := checkKind('{', v, path); fault != nil {
		return fault
	}
	handler := object{Object: v.Value.(*hujson.Object)}
	needs := map[string][]string{
		"command": {"command"}, "prompt": {"prompt"}, "agent": {"prompt"}, "http": {"url"}, "mcp_tool": {"server", "tool"}, "script": nil,
	}
	kind := handler.text("type")
	required, known := needs[kind]
	switch {
	case handler.index("type") < 0:
		return faultAt(v, "%s has no \"type\"", path)
	case !known, old && kind != "command" && kind != "prompt":
		return faultAt(v, "%s has the type %q, which Claude Code does not support", path, kind)
	}
	for _, name := range required {
		i := handler.index(name)
		if i < 0 {
			return faultAt(v, "%s has no %q", path, name)
		}
		if fault := checkKind('"', handler.Members[i].Value, path+"."+name); fault != nil {
			return fault
		}
	}
	return checkOptions(handler, path, old)
}

// checkOptions checks the options of a handler. The oldest version checks only
// the timeout.
func checkOptions(handler object, path string, old bool) *settingsFault {
	for _, m := range handler.Members {
		name := stringOf(m.Name)
		at := path + "." + name
		var fault *settingsFault
		switch {
		case name == "timeout":
			if fault = checkKind('0', m.Value, at); fault == nil && m.Value.Value.(hujson.Literal).Float() <= 0 {
				fault = faultAt(m.Value, "%s is %s, want a number above 0", at, m.Value.Value.(hujson.Literal))
			}
		case old:
		case name == "args":
			fault = checkStrings(m.Value, at)
		case name == "shell" && !slices.Contains([]string{"bash", "powershell"}, stringOf(m.Value)):
			fault = faultAt(m.Value, "%s is not \"bash\" or \"powershell\"", at)
		case name == "statusMessage":
			fault = checkKind('"', m.Value, at)
		case name == "async":
			fault = checkKind('t', m.Value, at)
		case name == "url":
			if u, err := url.Parse(stringOf(m.Value)); err != nil || u.Scheme == "" {
				fault = faultAt(m.Value, "%s is not a URL", at)
			}
		}
		if fault != nil {
			return fault
		}
	}
	return nil
}
