package agentconfig

import (
	"errors"
	"strings"
	"testing"
)

// Files that Claude Code ignores, as measured: now for 2.1.328 and 2.1.330, then
// for 2.0.30. TestIgnoredSettings in test/e2e repeats the measurement.
func TestCheckSettings(t *testing.T) {
	const handler = `{"type": "command", "command": "x"}`
	group := func(s string) string { return `{"hooks": {"PreToolUse": [` + s + `]}}` }
	hook := func(s string) string { return group(`{"hooks": [` + s + `]}`) }
	for name, test := range map[string]struct {
		settings  string
		now, then bool // whether it is ignored
		says      string
	}{
		"nothing":                 {"", false, false, ""},
		"plain":                   {hook(handler), false, false, ""},
		"line comment":            {"// c\n" + hook(handler), true, true, "1:1: Claude Code ignores the whole file: JSON does not allow comments"},
		"block comment":           {"{ /* c */ }", true, true, ":1:3: "},
		"trailing comma":          {"{\n  \"model\": \"opus\",\n}", true, true, ":2:18: Claude Code ignores the whole file: trailing comma before '}'"},
		"byte order mark":         {bom + hook(handler), false, true, ""},
		"something after it":      {"{} x", true, true, "unexpected text after the value"},
		"a list":                  {"[]", true, true, "the file contains a list"},
		"null":                    {"null", true, true, "the file contains null"},
		"key twice":               {`{"hooks": [], "hooks": {}}`, false, false, ""},
		"unknown key":             {`{"foo": 1}`, false, false, ""},
		"unknown event":           {`{"hooks": {"Foo": 3}}`, false, true, ""},
		"later event":             {`{"hooks": {"SubagentStart": []}}`, false, true, "hooks.SubagentStart is an event that this version does not support"},
		"hooks list":              {`{"hooks": []}`, true, true, ":1:11: Claude Code ignores the whole file: hooks is a list, want an object"},
		"event object":            {`{"hooks": {"PreToolUse": {}}}`, true, true, "hooks.PreToolUse is an object, want a list"},
		"event null":              {`{"hooks": {"PreToolUse": null}}`, false, true, ""},
		"no event":                {`{"hooks": {"PreToolUse": []}}`, false, false, ""},
		"group string":            {group(`"x"`), true, true, "hooks.PreToolUse[0] is a string, want an object"},
		"group without hooks":     {group(`{"matcher": "Bash"}`), true, true, `hooks.PreToolUse[0] has no "hooks"`},
		"group of one hook":       {group(handler), true, true, `has no "hooks"`},
		"group of none":           {group(`{"hooks": []}`), false, false, ""},
		"unknown key of a group":  {group(`{"foo": 1, "hooks": []}`), false, false, ""},
		"matcher number":          {group(`{"matcher": 3, "hooks": []}`), true, true, "hooks.PreToolUse[0].matcher is a number, want a string"},
		"matcher null":            {group(`{"matcher": null, "hooks": []}`), true, true, ""},
		"matcher no expression":   {group(`{"matcher": "(((", "hooks": []}`), false, false, ""},
		"hook string":             {hook(`"x"`), true, true, "hooks.PreToolUse[0].hooks[0] is a string"},
		"hook without a command":  {hook(`{"type": "command"}`), true, true, `hooks.PreToolUse[0].hooks[0] has no "command"`},
		"hook with an empty one":  {hook(`{"type": "command", "command": ""}`), false, false, ""},
		"hook without a type":     {hook(`{"command": "x"}`), true, true, `has no "type"`},
		"hook of unknown type":    {hook(`{"type": "foo", "command": "x"}`), true, true, `has the type "foo"`},
		"command number":          {hook(`{"type": "command", "command": 3}`), true, true, "command is a number"},
		"timeout string":          {hook(`{"type": "command", "command": "x", "timeout": "10"}`), true, true, "timeout is a string, want a number"},
		"timeout zero":            {hook(`{"type": "command", "command": "x", "timeout": 0}`), true, true, "timeout is 0, want a number above 0"},
		"timeout negative":        {hook(`{"type": "command", "command": "x", "timeout": -1}`), true, true, ""},
		"timeout fraction":        {hook(`{"type": "command", "command": "x", "timeout": 0.5}`), false, false, ""},
		"unknown key of a hook":   {hook(`{"type": "command", "command": "x", "foo": 1}`), false, false, ""},
		"args":                    {hook(`{"type": "command", "command": "x", "args": ["y"]}`), false, false, ""},
		"args string":             {hook(`{"type": "command", "command": "x", "args": "y"}`), true, false, "args is a string, want a list"},
		"args of numbers":         {hook(`{"type": "command", "command": "x", "args": [1]}`), true, false, "args[0] is a number"},
		"shell":                   {hook(`{"type": "command", "command": "x", "shell": "bash"}`), false, false, ""},
		"other shell":             {hook(`{"type": "command", "command": "x", "shell": "fish"}`), true, false, `not "bash" or "powershell"`},
		"status number":           {hook(`{"type": "command", "command": "x", "statusMessage": 1}`), true, false, ""},
		"async string":            {hook(`{"type": "command", "command": "x", "async": "yes"}`), true, false, "want true or false"},
		"prompt":                  {hook(`{"type": "prompt", "prompt": "x"}`), false, false, ""},
		"prompt without a text":   {hook(`{"type": "prompt"}`), true, true, `has no "prompt"`},
		"http":                    {hook(`{"type": "http", "url": "http://127.0.0.1:1/x"}`), false, true, ""},
		"http without an address": {hook(`{"type": "http", "url": "x"}`), true, true, ""},
		"mcp_tool":                {hook(`{"type": "mcp_tool", "server": "a", "tool": "b"}`), false, true, ""},
		"permissions":             {`{"permissions": {"allow": "Read"}}`, true, true, "permissions.allow is a string, want a list"},
		"model":                   {`{"model": 1}`, true, true, "model is a number, want a string"},
		"disableAllHooks":         {`{"disableAllHooks": "x"}`, true, true, "want true or false"},
		"enabledPlugins":          {`{"enabledPlugins": []}`, true, true, "want an object"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, old := range []bool{false, true} {
				c := &Claude{}
				if old {
					c.Version = Version{2, 0, 30}
				}
				err := c.checkSettings("/settings.json", []byte(test.settings))
				var ignored *IgnoredError
				if want := test.now && !old || test.then && old; errors.As(err, &ignored) != want {
					t.Errorf("old %t: error = %v, want one: %t", old, err, want)
				}
				if err != nil && (!old || !test.now) && !strings.Contains(err.Error(), test.says) {
					t.Errorf("old %t: error = %v, want one with %q", old, err, test.says)
				}
			}
		})
	}
}

// Later versions ignore only the entry of an invalid hook, unless it could deny a
// call.
func TestCheckSettingsOfOtherEvents(t *testing.T) {
	const settings = `{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}], "PreToolUse": []}}`
	for version, want := range map[Version]string{
		{}:          "/settings.json:1:32: Claude Code ignores this entry, and up to 2.1.197 the whole file: hooks.Stop[0].hooks[0] has no \"command\"",
		{2, 1, 328}: "/settings.json:1:32: Claude Code ignores this entry, and up to 2.1.197 the whole file: hooks.Stop[0].hooks[0] has no \"command\"",
		{2, 1, 197}: "/settings.json:1:32: Claude Code ignores the whole file: hooks.Stop[0].hooks[0] has no \"command\"",
		{2, 0, 30}:  "/settings.json:1:32: Claude Code ignores the whole file: hooks.Stop[0].hooks[0] has no \"command\"",
	} {
		c := &Claude{Version: version}
		if err := c.checkSettings("/settings.json", []byte(settings)); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", version, err, want)
		}
		// One that could deny is worse.
		err := c.checkSettings("/settings.json", []byte(strings.Replace(settings, `"PreToolUse": [`, `"PreToolUse": [3`, 1)))
		if err == nil || !strings.Contains(err.Error(), "the whole file: hooks.") {
			t.Errorf("%v: %v", version, err)
		}
	}
	c := testClaude(t)
	write(t, c.Settings(User), strings.Replace(settingsWith(t, "docsearch hook", 10), `"PostToolUseFailure": [`, `"PostToolUseFailure": [3, `, 1))
	if in := c.Installed(); len(in.Hooks) != 4 || len(in.Ignored) != 1 {
		t.Errorf("hooks %+v, ignored %v", in.Hooks, in.Ignored)
	}
	if _, err := c.Install(User, ProgramAt(program)); err != nil {
		t.Error(err)
	}
	c.Version = Version{2, 1, 197}
	if in := c.Installed(); len(in.Hooks) != 0 || len(in.Ignored) != 1 {
		t.Errorf("hooks %+v, ignored %v", in.Hooks, in.Ignored)
	}
	if _, err := c.Install(User, ProgramAt(program)); err == nil {
		t.Error("installed into a file that is ignored")
	}
}

func FuzzCheckSettings(f *testing.F) {
	for _, data := range layouts {
		f.Add([]byte(data))
	}
	f.Add([]byte(`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": -1}]}]}}`))
	f.Add([]byte(`{"permissions": {"allow": [1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, version := range []Version{{}, {2, 0, 30}, {2, 1, 197}} {
			var ignored *IgnoredError
			err := (&Claude{Version: version}).checkSettings("/settings.json", data)
			if err != nil && (!errors.As(err, &ignored) || ignored.Line < 1 || ignored.Column < 1 || ignored.Reason == "") {
				t.Errorf("%q: %v", data, err)
			}
		}
	})
}
