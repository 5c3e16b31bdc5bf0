package plugin

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// maxSkill is the maximum size of a skill. A session pays for it with each use.
const maxSkill = 2200

// Each skill has the front matter that Claude Code reads, and names only tools and
// commands that exist.
func TestSkills(t *testing.T) {
	files, err := filepath.Glob("skills/*/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	tools := []string{"search", "read", "list_databases", "note_add", "note_update", "note_append"}
	var names []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.SplitN(string(data), "---\n", 3)
		var front struct {
			Name, Description string
			Hint              string `yaml:"argument-hint"`
		}
		if len(parts) != 3 || parts[0] != "" || yaml.Unmarshal([]byte(parts[1]), &front) != nil {
			t.Fatalf("%s: no front matter", file)
		}
		names = append(names, front.Name)
		body := parts[2]
		if front.Name != filepath.Base(filepath.Dir(file)) || front.Description == "" || len(front.Description) > 250 || len(body) > maxSkill {
			t.Errorf("%s: name %q, description of %d bytes, text of %d bytes", file, front.Name, len(front.Description), len(body))
		}
		if (front.Hint != "") != strings.Contains(body, "$ARGUMENTS") {
			t.Errorf("%s: argument-hint %q does not agree with the use of $ARGUMENTS", file, front.Hint)
		}
		for _, m := range regexp.MustCompile("`mcp__plugin_docsearch_docs__(\\w+)`").FindAllStringSubmatch(body, -1) {
			if !slices.Contains(tools, m[1]) {
				t.Errorf("%s: unknown tool %s", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile("`docsearch ([^`]+)`").FindAllStringSubmatch(body, -1) {
			if !strings.HasPrefix(m[1], "note coverage --json") {
				t.Errorf("%s: unknown command docsearch %s", file, m[1])
			}
		}
	}
	if want := []string{"docs-search", "local-docs", "note-coverage"}; !slices.Equal(names, want) {
		t.Errorf("skills %q, want %q", names, want)
	}
}

// Without a program, the script tells the user at the start of a session, and
// returns no decision about a call.
func TestWithoutProgram(t *testing.T) {
	sh := findShell(t)
	for _, test := range []struct {
		name, command, event string
		message              bool
	}{
		{"start", "hook", `{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}`, true},
		{"start, other order", "hook", `{"source":"startup","hook_event_name":"SessionStart"}` + "\n", true},
		{"resumed", "hook", `{"hook_event_name":"SessionStart","source":"resume"}`, false},
		{"call", "hook", `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"startup"}}`, false},
		{"no event", "hook", "", false},
		{"server", "serve", `{"hook_event_name":"SessionStart","source":"startup"}`, false},
	} {
		cmd := exec.Command(sh, filepath.Join(copyPlugin(t), "scripts", "docsearch"), test.command)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + t.TempDir()}
		cmd.Stdin = strings.NewReader(test.event)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "found no docsearch program") {
			t.Errorf("%s: %v, %s", test.name, err, &stderr)
		}
		var answer struct {
			Message string `json:"systemMessage"`
		}
		if !test.message {
			if len(out) > 0 {
				t.Errorf("%s: the script printed %s", test.name, out)
			}
			continue
		}
		if err := json.Unmarshal(out, &answer); err != nil || !strings.Contains(answer.Message, "make install") {
			t.Errorf("%s: %v, the script printed %s", test.name, err, out)
		}
	}
}

// The script hides the skill only where no program is found, and never in a checkout.
func TestSkill(t *testing.T) {
	sh, dir := findShell(t), copyPlugin(t)
	mv, err := exec.LookPath("mv")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	tools := t.TempDir()
	if err := os.Symlink(mv, filepath.Join(tools, "mv")); err != nil {
		t.Fatal(err)
	}
	run := func(programs ...string) {
		cmd := exec.Command(sh, filepath.Join(dir, "scripts", "docsearch"), "hook")
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + strings.Join(append(programs, tools), string(filepath.ListSeparator))}
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"SessionStart","source":"startup"}`)
		if out, err := cmd.CombinedOutput(); (err == nil) != (len(programs) > 0) {
			t.Fatalf("with the programs %q: %v\n%s", programs, err, out)
		}
	}
	visible := func() bool {
		_, err := os.Stat(filepath.Join(dir, skill))
		return err == nil
	}
	run()
	if visible() {
		t.Error("the skill is visible without a program")
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docsearch"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(bin)
	if !visible() {
		t.Error("the skill is not visible with a program")
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(dir), ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	run()
	if !visible() {
		t.Error("the script changed a checkout")
	}
}

// The script runs docsearch-hook, if it is next to docsearch, for events only.
func TestHookProgram(t *testing.T) {
	sh, dir, bin := findShell(t), copyPlugin(t), t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(sh, append([]string{filepath.Join(dir, "scripts", "docsearch")}, args...)...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + bin}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for _, program := range []string{"docsearch", "docsearch-hook"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\necho "+program+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got, want := run("hook"), program+" hook"; got != want {
			t.Errorf("for an event, the script runs %q, want %q", got, want)
		}
		if got, want := run("serve"), "docsearch serve"; got != want {
			t.Errorf("for the server, the script runs %q, want %q", got, want)
		}
	}
}

// findShell returns the path of sh. It skips the test if the plugin would find a program
// that is installed on this system.
func findShell(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the plugin does not support Windows")
	}
	for _, installed := range []string{"/usr/local/bin/docsearch", "/opt/homebrew/bin/docsearch"} {
		if _, err := exec.LookPath(installed); err == nil {
			t.Skipf("skipped: %s is there", installed)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("skipped: sh not found")
	}
	return sh
}

// skill is the file of the skill in the plugin.
const skill = "skills/local-docs/SKILL.md"

// copyPlugin copies the plugin to a folder of its own.
func copyPlugin(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugin")
	for _, part := range []string{"scripts", "skills"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(part)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The script never runs a program of the working directory, which may be a stranger's
// checkout: it skips relative entries of PATH and tries those that follow.
func TestRelativePath(t *testing.T) {
	sh, dir := findShell(t), copyPlugin(t)
	put := func(folder, text string) {
		if err := os.WriteFile(filepath.Join(folder, "docsearch"), []byte("#!/bin/sh\necho "+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	checkout, good := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(checkout, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(checkout, "stranger")
	put(filepath.Join(checkout, "bin"), "stranger")
	put(good, "own")
	for _, path := range []string{".:" + good, ":" + good, "bin:./bin::" + good, good + ":."} {
		for _, gobin := range []string{"", ".", "bin"} {
			cmd := exec.Command(sh, filepath.Join(dir, "scripts", "docsearch"), "version")
			cmd.Dir, cmd.Env = checkout, []string{"HOME=" + t.TempDir(), "PATH=" + path, "GOBIN=" + gobin}
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "own\n" {
				t.Errorf("PATH=%s GOBIN=%s: %v, %s", path, gobin, err, out)
			}
		}
	}
	for _, path := range []string{".", "", "bin"} {
		cmd := exec.Command(sh, filepath.Join(dir, "scripts", "docsearch"), "version")
		cmd.Dir, cmd.Env = checkout, []string{"HOME=" + t.TempDir(), "PATH=" + path, "GOBIN=."}
		if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), "stranger") {
			t.Errorf("PATH=%s: %v, %s", path, err, out)
		}
	}
}
