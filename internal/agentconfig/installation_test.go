package agentconfig

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Duplicates finds two copies of the hook for one call in any form of their
// commands, but not copies that Claude Code runs once.
func TestDoubles(t *testing.T) {
	own := HookCommand(User, program)
	for name, test := range map[string]struct {
		user, project, local string // the command on all events; "": none
		plugin               bool
		copies               int
	}{
		"one":                       {user: own},
		"one command in two files":  {user: own, project: own},
		"user and project":          {user: own, project: HookCommand(Project, "docsearch"), copies: 2},
		"an earlier version's":      {user: own, project: "docsearch hook", copies: 2},
		"never denies":              {user: own, local: "docsearch hook || true", copies: 2},
		"with a variable":           {user: own, local: "env DOCSEARCH_DEBUG=1 docsearch hook", copies: 2},
		"in another shell":          {user: own, project: "sh -c 'docsearch hook; exit 0'", copies: 2},
		"by a launcher":             {user: own, project: "npx -y docsearch hook", copies: 2},
		"quoted":                    {user: own, project: `"/home/other/my tools/docsearch" hook`, copies: 2},
		"in Python":                 {user: own, project: "python3 .claude/hooks/docsearch.py", copies: 2},
		"three":                     {user: own, project: "docsearch hook", local: "/x/docsearch hook", copies: 3},
		"plugin":                    {plugin: true},
		"plugin and install":        {user: own, plugin: true, copies: 2},
		"plugin and same command":   {user: "docsearch hook", plugin: true, copies: 2},
		"something else in project": {user: own, project: "check.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			c := testClaude(t)
			for scope, command := range map[Scope]string{User: test.user, Project: test.project, Local: test.local} {
				if command != "" {
					write(t, c.Settings(scope), settingsWith(t, command, 10))
				}
			}
			in := c.Installed()
			if len(in.Ignored) > 0 {
				t.Fatal(in.Ignored)
			}
			hooks := in.Hooks
			if test.plugin {
				hooks = append(hooks, InPlugins(map[string]string{"docsearch@docsearch": filepath.Join("..", "..", "plugin")}, "docsearch@docsearch")...)
			}
			doubles := c.Duplicates(hooks)
			if test.copies == 0 {
				if len(doubles) > 0 {
					t.Errorf("doubles: %+v", doubles)
				}
				return
			}
			if len(doubles) != 1 || len(doubles[0].Hooks) != test.copies {
				t.Fatalf("doubles: %+v, want one of %d", doubles, test.copies)
			}
			want := "WebSearch WebFetch Bash Edit MultiEdit NotebookEdit Write ReadMcpResourceTool mcp__docsearch__search SessionStart SubagentStart PostToolUseFailure"
			if diff := cmp.Diff(want, strings.Join(doubles[0].Calls, " ")); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// The exec form counts by its arguments.
func TestDoublesOfExecForm(t *testing.T) {
	c := testClaude(t)
	entry := func(args string) string {
		return strings.ReplaceAll(settingsWith(t, "docsearch", 10), `"timeout"`, `"args": `+args+`, "timeout"`)
	}
	write(t, c.Settings(User), entry(`["hook"]`))
	write(t, c.Settings(Project), entry(`["hook"]`))
	if doubles := c.Duplicates(c.Installed().Hooks); len(doubles) > 0 {
		t.Errorf("doubles: %+v", doubles)
	}
	write(t, c.Settings(Project), entry(`["hook", "--"]`))
	if doubles := c.Duplicates(c.Installed().Hooks); len(doubles) != 1 {
		t.Errorf("doubles: %+v", doubles)
	}
}

// An enabled plugin that is missing from the list of plugins counts with the
// hooks of the full coverage.
func TestPluginThatIsNotThere(t *testing.T) {
	hooks := InPlugins(nil, "docsearch@market")
	if !Matched(hooks, "WebSearch") || !Matched(hooks, "mcp__docsearch__search") || Matched(hooks, "Read") {
		t.Errorf("hooks: %+v", hooks)
	}
	if hooks := InPlugins(map[string]string{"other@market": t.TempDir()}, ""); len(hooks) > 0 {
		t.Errorf("hooks: %+v", hooks)
	}
}

// A file that Claude Code ignores does not hide the entries of other files.
func TestInstalledBesideIgnored(t *testing.T) {
	c := testClaude(t)
	write(t, c.Settings(User), settingsWith(t, "docsearch hook", 10))
	write(t, c.Settings(Project), `{"hooks": {},}`)
	write(t, c.Servers(Project), `// servers`)
	in := c.Installed()
	if len(in.Hooks) != 4 || len(in.Ignored) != 2 {
		t.Errorf("hooks %+v, ignored %v", in.Hooks, in.Ignored)
	}
}

// The command of the plugin's hooks runs the included program, or else the
// program of the launcher. It exits with code 0 even if either fails.
func TestPluginCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: sh not found")
	}
	commands := map[string]bool{}
	for _, name := range []string{"hooks.json", "events.json"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "plugin", "hooks", name))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Hooks map[string][]hookGroup `json:"hooks"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		for _, groups := range file.Hooks {
			for _, group := range groups {
				commands[group.Hooks[0].Command] = true
			}
		}
	}
	if len(commands) != 1 {
		t.Fatalf("the plugin has the commands %v, want one", commands)
	}
	for command := range commands {
		if _, ok := findHook(command); !ok {
			t.Errorf("%s is not recognized", command)
		}
		testPluginCommand(t, command)
	}
}

func testPluginCommand(t *testing.T, command string) {
	root := filepath.Join(t.TempDir(), "a plugin")
	script := func(name, text string) {
		t.Helper()
		write(t, filepath.Join(root, name), "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	try := func(want string) {
		t.Helper()
		for _, shell := range []string{"sh", "bash", "dash", "zsh"} {
			path, err := exec.LookPath(shell)
			if err != nil {
				continue
			}
			cmd := exec.CommandContext(t.Context(), path, "-c", command)
			cmd.Env = []string{"CLAUDE_PLUGIN_ROOT=" + root}
			if out, err := cmd.Output(); err != nil || string(out) != want {
				t.Errorf("%s: %v, %q, want %q", shell, err, out, want)
			}
		}
	}
	try("")
	script("scripts/docsearch", "echo found $*; exit 1")
	try("found hook\n")
	script("bin/docsearch-hook", "echo carried $*; exit 2")
	try("carried hook\n")
}
