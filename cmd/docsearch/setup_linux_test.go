package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A dialogue is a command with a user at a terminal.
type dialogue struct {
	t      *testing.T
	home   string
	cmd    *exec.Cmd
	master *os.File
	shown  bytes.Buffer
}

// startDialogue starts docsearch setup in dir, in its own home and with a
// terminal for all streams.
func startDialogue(t *testing.T, home, dir string, args ...string) *dialogue {
	t.Helper()
	return startAtTerminal(t, home, dir, append([]string{"setup"}, args...)...)
}

// startAtTerminal is startDialogue for any command.
func startAtTerminal(t *testing.T, home, dir string, args ...string) *dialogue {
	t.Helper()
	d := &dialogue{t: t, home: home}
	master, tty := openTerminal(t, 100)
	d.master = master
	// Do not wait for a prompt that never appears.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	d.cmd = exec.CommandContext(ctx, "docsearch", args...)
	d.cmd.Dir = dir
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = tty, tty, tty
	d.cmd.Env = atHome(home)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	return d
}

// atHome returns the environment of a user whose files are all below home.
func atHome(home string) []string {
	return append(os.Environ(), "HOME="+home, "TERM=dumb", "DOCSEARCH_DATA=", "DOCSEARCH_CONFIG_PATH=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "CLAUDE_CONFIG_DIR=", "XDG_CONFIG_HOME=", "CODEX_HOME=")
}

// answer waits until the output ends with a prompt that matches the pattern,
// and types.
func (d *dialogue) answer(question, typed string) {
	d.t.Helper()
	pattern := regexp.MustCompile(question + ` $`)
	buf := make([]byte, 4096)
	for !pattern.Match(d.shown.Bytes()) {
		n, err := d.master.Read(buf)
		d.shown.Write(buf[:n])
		if err != nil {
			d.t.Fatalf("no question %q in\n%s", question, d.shown.String())
		}
	}
	if _, err := io.WriteString(d.master, typed); err != nil {
		d.t.Fatal(err)
	}
}

// wait waits for the program and returns its output and its exit code.
func (d *dialogue) wait() (string, int) {
	d.t.Helper()
	io.Copy(&d.shown, d.master) // returns an error when the last process closes the terminal
	d.cmd.Wait()
	return strings.ReplaceAll(d.shown.String(), "\r\n", "\n"), d.cmd.ProcessState.ExitCode()
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInstallAsks(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	writeFiles(t, home, map[string]string{
		".claude/settings.json": "{}\n", ".codex/config.toml": "model = \"gpt-5.1\"\n", ".cursor/mcp.json": "{}\n", ".qwen/settings.json": "{}\n",
	})
	program, err := exec.LookPath("docsearch")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(program)) // without the agents of this machine
	d := startAtTerminal(t, home, work, "install")
	d.answer(`Install docsearch in Claude Code\? \[Y/n\]`, "n\n")
	d.answer(`Install docsearch in Codex CLI\? \[Y/n\]`, "\n")
	d.answer(`Install docsearch in Qwen Code\? \[Y/n\]`, "no\n")
	d.answer(`Install docsearch in Cursor \(untested\)\? \[y/N\]`, "\n")
	shown, code := d.wait()
	if code != exitOK || !strings.Contains(shown, "docsearch is installed in Codex CLI for you in every project") {
		t.Errorf("exit code %d\n%s", code, shown)
	}
	for path, want := range map[string]bool{".codex/hooks.json": true, ".claude.json": false, ".qwen/settings.json.before-docsearch": false, ".cursor/mcp.json.before-docsearch": false} {
		if _, err := os.Stat(filepath.Join(home, path)); want != (err == nil) {
			t.Errorf("%s: %v, want that it exists: %v", path, err, want)
		}
	}
}

func TestSetupAsks(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	writeFiles(t, work, map[string]string{
		"frob/docs/bells.md":  "# Ring the bell\n\nThe bell rings when it is done.\n",
		"frob/docs/metals.md": "# Choose a metal\n\nZirconium is stronger than brass.\n",
	})
	writeFiles(t, home, map[string]string{".claude/settings.json": "{}\n"})
	config := filepath.Join(home, ".claude", "hooks", "docsearch-config.json")

	// Interrupted at the first prompt about the config: the database remains.
	d := startDialogue(t, home, filepath.Join(work, "frob"))
	d.answer(`or LEANN index\) \[docs\]:`, "\n")
	d.answer(`in a web search \[frob\]:`, "\n")
	d.answer(`Keywords, separated by commas \[frob\]:`, "\x03")
	shown, code := d.wait()
	if code != 130 || !strings.HasSuffix(shown, "docsearch: interrupted\nhint: run the same command again to resume\n") {
		t.Errorf("interrupted: exit code %d\n%s", code, shown)
	}
	if _, err := os.Stat(config); err == nil {
		t.Error("an interrupted setup has written the config")
	}

	// With other answers than the suggested ones.
	d = startDialogue(t, home, filepath.Join(work, "frob"))
	d.answer(`\[docs\]:`, "../frob/docs/\n")
	d.answer(`in a web search \[frob\]:`, "Go\n")
	d.answer(`Keywords, separated by commas \[Go, golang\]:`, "Frobber, Go\n")
	d.answer(`URL prefixes of the pages, separated by commas:`, "https://frob.test/\n")
	d.answer(`Description that the agent sees \[Go documentation\]:`, "All of it\n")
	d.answer(`Write this change to .*docsearch-config\.json\? \[Y/n\]`, "what\n")
	d.answer(`Write this change to .*docsearch-config\.json\? \[Y/n\]`, "y\n")
	d.answer(`to Claude Code's settings\? \[Y/n\]`, "\n")
	shown, code = d.wait()
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, shown)
	}
	for _, want := range []string{`"Go" is also a common word`, "\nThe hook denied it in ", "\nadded the hook to ", "\n  docsearch uninstall\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"keywords": ["Frobber", "Go"]`, `"description": "All of it"`, `"urls": ["https://frob.test/"]`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, data)
		}
	}

	// Again: no prompts.
	d = startDialogue(t, home, filepath.Join(work, "frob"), "Go", "docs")
	if shown, code = d.wait(); code != exitOK || !strings.Contains(shown, "already has the entry Go") {
		t.Errorf("again: exit code %d\n%s", code, shown)
	}

	// Declining changes nothing.
	d = startDialogue(t, home, filepath.Join(work, "frob"), "Go", "docs", "--name", "other")
	d.answer(`Change the entry to .*other\? \[y/N\]`, "\n")
	if shown, code = d.wait(); code != exitFailure || !strings.Contains(shown, "hint: use another keyword to add an entry\n") {
		t.Errorf("an entry of another database: exit code %d\n%s", code, shown)
	}
	d = startDialogue(t, home, filepath.Join(work, "frob"), "bell", "docs")
	d.answer(`Keywords.*:`, "\n")
	d.answer(`URL prefixes.*:`, "-\n")
	d.answer(`Description.*:`, "\n")
	d.answer(`Write .*`, "n\n")
	if shown, code = d.wait(); code != exitFailure || !strings.Contains(shown, "docsearch: the database is built, but not in the config\n") {
		t.Errorf("not to be written: exit code %d\n%s", code, shown)
	}
	if now, err := os.ReadFile(config); err != nil || !bytes.Equal(now, data) {
		t.Errorf("%v: the config has become\n%s", err, now)
	}
}
