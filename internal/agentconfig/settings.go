package agentconfig

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/file/inplace"
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
	if fault := checkDocument(d, c.Version.before(allEventsVersion)); fault != nil {
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

func faultAt(v *inplace.Node, format string, args ...any) *settingsFault {
	return &settingsFault{at: v.Start, reason: fmt.Sprintf(format, args...)}
}

// checkKind returns a fault unless v has the kind.
func checkKind(kind inplace.Kind, v *inplace.Node, path string) *settingsFault {
	if got := v.Kind(); got != kind {
		return faultAt(v, "%s is %s, want %s", path, got, kind)
	}
	return nil
}

// checkDocument returns the first settingsFault, preferably one for which Claude
// Code ignores the whole file. old selects the rules of versions before
// allEventsVersion.
func checkDocument(d *inplace.Document, old bool) *settingsFault {
	var entry *settingsFault
	kinds := map[string]inplace.Kind{
		"disableAllHooks": inplace.Bool, "enabledPlugins": inplace.Object, "hooks": inplace.Object,
		"model": inplace.String, "permissions": inplace.Object,
	}
	for _, m := range d.Root().Members {
		kind, known := kinds[m.Name]
		if !known || m.Value != d.Root().Member(m.Name) { // the last of several equal names counts
			continue
		}
		if fault := checkKind(kind, m.Value, m.Name); fault != nil {
			return fault
		}
		var fault *settingsFault
		switch m.Name {
		case "hooks":
			fault = checkHooks(m.Value, old)
		case "permissions":
			fault = checkPermissions(m.Value)
		}
		if fault != nil && !fault.entry {
			return fault
		}
		entry = cmp.Or(entry, fault)
	}
	return entry
}

func checkPermissions(o *inplace.Node) *settingsFault {
	for _, m := range o.Members {
		if slices.Contains([]string{"allow", "deny", "ask"}, m.Name) {
			if fault := checkStrings(m.Value, "permissions."+m.Name); fault != nil {
				return fault
			}
		}
	}
	return nil
}

func checkStrings(v *inplace.Node, path string) *settingsFault {
	return checkList(v, path, func(element *inplace.Node, path string) *settingsFault {
		return checkKind(inplace.String, element, path)
	})
}

// checkList returns the first fault of a list's elements.
func checkList(v *inplace.Node, path string, check func(element *inplace.Node, path string) *settingsFault) *settingsFault {
	if fault := checkKind(inplace.List, v, path); fault != nil {
		return fault
	}
	for i, element := range v.Items {
		if fault := check(element, fmt.Sprintf("%s[%d]", path, i)); fault != nil {
			return fault
		}
	}
	return nil
}

func checkHooks(events *inplace.Node, old bool) *settingsFault {
	var entry *settingsFault
	for _, event := range events.Members {
		name := event.Name
		first := slices.Contains(firstEvents[:], name)
		known := first || slices.Contains(laterEvents[:], name)
		switch {
		case old && !first:
			return &settingsFault{at: event.Start, reason: fmt.Sprintf("hooks.%s is an event that this version does not support", name)}
		case !known || event.Value.Kind() == inplace.Null && !old:
			continue // Claude Code skips only this event
		}
		group := func(v *inplace.Node, path string) *settingsFault { return checkGroup(v, path, old) }
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

func checkGroup(v *inplace.Node, path string, old bool) *settingsFault {
	if fault := checkKind(inplace.Object, v, path); fault != nil {
		return fault
	}
	if matcher := v.Member("matcher"); matcher != nil {
		if fault := checkKind(inplace.String, matcher, path+".matcher"); fault != nil {
			return fault
		}
	}
	hooks := v.Member("hooks")
	if hooks == nil {
		return faultAt(v, "%s has no \"hooks\"", path)
	}
	return checkList(hooks, path+".hooks", func(handler *inplace.Node, path string) *settingsFault {
		return checkHandler(handler, path, old)
	})
}

func checkHandler(v *inplace.Node, path string, old bool) *settingsFault {
	if fault := checkKind(inplace.Object, v, path); fault != nil {
		return fault
	}
	needs := map[string][]string{
		"command": {"command"}, "prompt": {"prompt"}, "agent": {"prompt"}, "http": {"url"}, "mcp_tool": {"server", "tool"}, "script": nil,
	}
	kind := v.Member("type").Text()
	required, known := needs[kind]
	switch {
	case v.Member("type") == nil:
		return faultAt(v, "%s has no \"type\"", path)
	case !known, old && kind != "command" && kind != "prompt":
		return faultAt(v, "%s has the type %q, which Claude Code does not support", path, kind)
	}
	for _, name := range required {
		value := v.Member(name)
		if value == nil {
			return faultAt(v, "%s has no %q", path, name)
		}
		if fault := checkKind(inplace.String, value, path+"."+name); fault != nil {
			return fault
		}
	}
	return checkOptions(v, path, old)
}

// checkOptions checks the options of a handler. The oldest version checks only
// the timeout.
func checkOptions(handler *inplace.Node, path string, old bool) *settingsFault {
	for _, m := range handler.Members {
		name := m.Name
		at := path + "." + name
		var fault *settingsFault
		switch {
		case name == "timeout":
			if fault = checkKind(inplace.Number, m.Value, at); fault == nil && !isPositive(m.Value.Raw) {
				fault = faultAt(m.Value, "%s is %s, want a number above 0", at, m.Value.Raw)
			}
		case old:
		case name == "args":
			fault = checkStrings(m.Value, at)
		case name == "shell" && !slices.Contains([]string{"bash", "powershell"}, m.Value.Text()):
			fault = faultAt(m.Value, "%s is not \"bash\" or \"powershell\"", at)
		case name == "statusMessage":
			fault = checkKind(inplace.String, m.Value, at)
		case name == "async":
			fault = checkKind(inplace.Bool, m.Value, at)
		case name == "url":
			if u, err := url.Parse(m.Value.Text()); err != nil || u.Scheme == "" {
				fault = faultAt(m.Value, "%s is not a URL", at)
			}
		}
		if fault != nil {
			return fault
		}
	}
	return nil
}

func isPositive(number string) bool {
	f, _ := strconv.ParseFloat(number, 64) // infinite if it is too large
	return f > 0
}
