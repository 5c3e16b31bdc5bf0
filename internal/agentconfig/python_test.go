package agentconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pythonCommand = `python3 ~/.claude/hooks/docsearch.py`

// pythonSettings has the Python version of the hook, alone and in a group with another
// hook.
const pythonSettings = `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {"matcher": "WebSearch", "hooks": [
        {"type": "command", "command": "python3 ~/.claude/hooks/docsearch.py", "timeout": 5}
      ]},
      {"matcher": "WebFetch|Bash", "hooks": [
        {"type": "command", "command": "format.sh"},
        {"type": "command", "command": "python3", "args": ["/opt/docsearch.py"]}
      ]}
    ],
    "SessionStart": [{"hooks": [{"type": "command", "command": "uv run docsearch.py"}]}]
  }
}
`

func pythonHooks(c *Claude) (lines []string) {
	for _, h := range c.Installed().Hooks {
		if h.Python {
			lines = append(lines, h.Event+" "+h.Matcher+" "+h.Line())
		}
	}
	return lines
}

// changed plans changes and applies them.
func changed(t *testing.T, plan func() ([]*Change, error)) {
	t.Helper()
	changes, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	apply(t, changes)
}

// Install replaces the Python version of the hook, and uninstall puts it back.
func TestPythonIsReplaced(t *testing.T) {
	for _, scope := range Scopes {
		t.Run(string(scope), func(t *testing.T) {
			c := testClaude(t)
			write(t, c.Settings(scope), pythonSettings)
			before := pythonHooks(c)
			if len(before) != 3 {
				t.Fatalf("found %q", before)
			}
			install := func() {
				changed(t, c.ReplacePython)
				changed(t, func() ([]*Change, error) { return c.Install(User, ProgramAt(program)) })
			}
			uninstall := func() {
				remove, err := c.Uninstall(User)
				if err != nil {
					t.Fatal(err)
				}
				restore, err := c.RestorePython(User)
				if err != nil {
					t.Fatal(err)
				}
				apply(t, append(remove, restore...))
			}
			install()
			if left := pythonHooks(c); len(left) > 0 {
				t.Errorf("left %q", left)
			}
			if !strings.Contains(read(t, c.Settings(scope)), "format.sh") {
				t.Errorf("the other hook is gone: %s", read(t, c.Settings(scope)))
			}
			install() // changes nothing
			uninstall()
			if scope == User {
				if diff := cmp.Diff(pythonSettings, read(t, c.Settings(scope))); diff != "" {
					t.Errorf("not as it was (-before +after):\n%s", diff)
				}
			}

			// The entries also come back to settings that others have changed.
			install()
			write(t, c.Settings(scope), strings.Replace(read(t, c.Settings(scope)), "opus", "sonnet", 1))
			uninstall()
			after := pythonHooks(c)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("entries (-before +after):\n%s", diff)
			}
			if !strings.Contains(read(t, c.Settings(scope)), "sonnet") {
				t.Error("the other change is gone")
			}
			if exists(replacedPath(c.Settings(scope))) {
				t.Error("the copy of the entries is still there")
			}
		})
	}
}

// While docsearch's hook stays in one scope, an uninstall from another one does not put the
// Python version back.
func TestPythonStaysReplaced(t *testing.T) {
	c := testClaude(t)
	write(t, c.Settings(Local), pythonSettings)
	changed(t, c.ReplacePython)
	for _, s := range []Scope{User, Local} {
		changed(t, func() ([]*Change, error) { return c.Install(s, ProgramAt(program)) })
	}
	for i, s := range []Scope{Local, User} {
		changed(t, func() ([]*Change, error) { return c.Uninstall(s) })
		changed(t, func() ([]*Change, error) { return c.RestorePython(s) })
		if got := len(pythonHooks(c)); got != 3*i {
			t.Errorf("after uninstall from scope %s: %d entries, want %d", s, got, 3*i)
		}
	}
}

// Entries that docsearch does not edit stay.
func TestPythonThatStays(t *testing.T) {
	c := testClaude(t)
	mixed := settingsWith(t, "tee /tmp/events | "+pythonCommand, 5)
	write(t, c.Settings(User), mixed)
	c.managed = []string{filepath.Join(t.TempDir(), "managed-settings.json")}
	write(t, c.managed[0], settingsWith(t, pythonCommand, 5))
	if changes, err := c.ReplacePython(); err != nil || len(changes) > 0 {
		t.Errorf("changes %v, %v", paths(changes), err)
	}
	hooks := append(c.Installed().Hooks, InPlugins(map[string]string{"old@market": pythonPlugin(t)}, "")...)
	scopes := map[Scope]bool{}
	for _, h := range hooks {
		scopes[h.Scope] = true
		if !h.Python || h.Replaceable() {
			t.Errorf("%+v: Python %t, replaceable %t", h, h.Python, h.Replaceable())
		}
	}
	if !scopes[User] || !scopes[Managed] || !scopes[""] {
		t.Errorf("found hooks in %v", scopes)
	}
	if Matched(hooks, "WebSearch") {
		t.Error("the Python version counts as docsearch's hook")
	}
}

func pythonPlugin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "hooks", "hooks.json"), settingsWith(t, pythonCommand, 5))
	return dir
}
