package agentconfig

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

func TestFindOlder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	command := func(line string) string { return `{"type": "command", "command": ` + toJSON(line) + `}` }
	for _, test := range []struct {
		handler string
		want    olderRun
		ok      bool
	}{
		{command("lore hook"), olderRun{tool: Lore}, true},
		{command("/usr/local/bin/lore hook || true"), olderRun{tool: Lore}, true},
		{command("lore --config /etc/lore.toml hook"), olderRun{tool: Lore, config: "/etc/lore.toml"}, true},
		{command("lore --config=~/lore.toml hook"), olderRun{tool: Lore, config: filepath.Join(home, "lore.toml")}, true},
		{command(`sh -c "lore hook"`), olderRun{tool: Lore}, true},
		{command("lore hook; /usr/bin/audit"), olderRun{tool: Lore, others: true}, true},
		{`{"type": "command", "command": "lore", "args": ["hook"]}`, olderRun{tool: Lore}, true},
		{command("~/.claude/hooks/PreToolUse/docsearch.py"), olderRun{tool: PythonHook}, true},
		{command("python3 /opt/docsearch.py"), olderRun{tool: PythonHook}, true},
		{command(`uv run --quiet --directory "${CLAUDE_PLUGIN_ROOT}" tool-routing check`),
			olderRun{tool: ToolRouting, folder: "${CLAUDE_PLUGIN_ROOT}"}, true},
		{command("uv run --project /src/tool-routing tool-routing check"),
			olderRun{tool: ToolRouting, folder: "/src/tool-routing"}, true},
		{command("tool-routing check"), olderRun{tool: ToolRouting}, true},
		{command("tool-routing list"), olderRun{}, false},
		{command("lore serve"), olderRun{}, false},
		{command("folklore hook"), olderRun{}, false},
		{command("docsearch hook"), olderRun{}, false},
		{command(""), olderRun{}, false},
	} {
		d, err := parse([]byte(`{"hooks": {"PreToolUse": [{"hooks": [` + test.handler + `]}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		handlers, err := settingsHandlers(d)
		if err != nil || len(handlers) != 1 {
			t.Fatalf("%s: %d handlers, %v", test.handler, len(handlers), err)
		}
		if got, ok := findOlder(handlers[0].handler); got != test.want || ok != test.ok {
			t.Errorf("%s: got %+v, %v, want %+v, %v", test.handler, got, ok, test.want, test.ok)
		}
	}
}

// A plugin is turned off only if all its hooks are of an older tool.
func TestOlderInPlugin(t *testing.T) {
	for name, test := range map[string]struct {
		hooks   string
		found   int
		movable bool
	}{
		"alone": {`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "lore hook"}]}],
			"SessionStart": [{"hooks": [{"type": "command", "command": "lore hook"}]}]}}`, 2, true},
		"another hook": {`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "lore hook"},
			{"type": "command", "command": "/usr/bin/audit"}]}]}}`, 1, false},
		"none": {`{"hooks": {}}`, 0, false},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "hooks", "hooks.json"), []byte(test.hooks), 0o644); err != nil {
			t.Fatal(err)
		}
		found := olderInPlugin(OlderHook{Plugin: "lore@market", Path: dir})
		if len(found) != test.found {
			t.Errorf("%s: got %d hooks, want %d", name, len(found), test.found)
		}
		for _, h := range found {
			if h.Movable != test.movable || h.Plugin != "lore@market" {
				t.Errorf("%s: got %+v, want movable %v", name, h, test.movable)
			}
		}
	}
}

func TestDropOlder(t *testing.T) {
	const settings = `{
  // mine
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "lore hook"}]}],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "lore hook"}, {"type": "command", "command": "audit"}]},
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "lore hook; audit"}]}
    ]
  },
  "enabledPlugins": {"lore@market": true, "tool-routing@market": ["1.2.3"], "other@market": true, "off@market": false}
}
`
	const want = `{
  // mine
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "audit"}]},
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "lore hook; audit"}]}
    ]
  },
  "enabledPlugins": {"lore@market": false, "other@market": true, "off@market": false, "tool-routing@market": false}
}
`
	plugins := []string{"lore@market", "tool-routing@market", "off@market", "absent@market"}
	got, err := onJSON(func(d *inplace.Document) error { return dropOlder(d, plugins) })([]byte(settings))
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// Changes of one file become one, which is written once.
func TestMerge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	put := func(key string) *Change {
		c, err := Rewrite(path, "", func(data []byte) ([]byte, error) {
			values := map[string]bool{}
			if data != nil {
				if err := json.Unmarshal(data, &values); err != nil {
					return nil, err
				}
			}
			values[key] = true
			return json.Marshal(values)
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	merged, err := Merge([]*Change{put("a"), put("b"), put("c")})
	if err != nil || len(merged) != 1 {
		t.Fatalf("got %d changes, %v", len(merged), err)
	}
	merged[0].WithoutBackup()
	if _, err := merged[0].Apply(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != `{"a":true,"b":true,"c":true}` {
		t.Errorf("got %s, %v", data, err)
	}
}
