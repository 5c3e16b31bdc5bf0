//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTasks types what the page of tasks says, in the order of the page, as a user with the
// folders that it names.
func TestTasks(t *testing.T) {
	program, err := exec.LookPath("docsearch")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	bin := filepath.Join(t.TempDir(), "bin") // no browser, no agents
	u := taskUser{t: t, home: home, env: []string{"HOME=" + home, "PATH=" + bin, hookTimeout + "=" + patience}}
	u.write(filepath.Join(home, "src", "widget", "docs", "crank.md"), "# Turn the crank\n\nThe crank of the widget turns left while the handle is raised. A raised handle locks after one minute.\n")
	u.write(filepath.Join(home, "src", "widget", "docs", "bell.md"), "# Ring the bell\n\nThe bell of the widget rings when the lever is pressed for two seconds.\n")
	u.write(filepath.Join(home, "src", "shop", "package.json"), `{"dependencies": {"tea": "1.0.0"}}`)
	u.write(filepath.Join(home, "src", "shop", "package-lock.json"), `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"tea": "1.0.0"}}, "node_modules/tea": {"version": "1.0.0"}}}`)
	u.write(filepath.Join(home, "src", "shop", "node_modules", "tea", "package.json"), `{"name": "tea", "version": "1.0.0"}`)
	u.write(filepath.Join(home, "src", "shop", "node_modules", "tea", "docs", "steep.md"), "# Steep\n\nGreen leaves steep for one minute in water of eighty degrees.\n")
	u.write(filepath.Join(home, ".docsearch-token"), "token")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"true", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		program, bin := path, filepath.Join(bin, name)
		if err := os.Symlink(program, bin); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(bin, "docsearch")); err != nil {
		t.Fatal(err)
	}

	block := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```")
	tasks := 0
	for _, task := range strings.Split(pages(t)["tasks.md"], "\n## … ")[1:] {
		title, _, _ := strings.Cut(task, "\n")
		tasks++
		for _, m := range block.FindAllStringSubmatch(task, -1) {
			switch {
			case m[1] == "sh" && strings.Contains(m[2], "docsearch last\n"):
				u.deny("widget crank turns left")
				u.deny("widget bell rings")
				fallthrough
			case m[1] == "sh":
				u.run(title, m[2])
			case m[1] != "json":
				for _, line := range regexp.MustCompile(`docsearch ((?:update|setup|doctor).*)`).FindAllStringSubmatch(m[2], -1) {
					checkCommandLine(t, "tasks.md", line[1])
				}
			}
		}
	}
	if tasks < 20 {
		t.Errorf("the page has %d tasks", tasks)
	}
	for _, left := range []string{".claude/hooks", ".local/share/docsearch", ".cache/docsearch"} {
		if found, _ := filepath.Glob(filepath.Join(home, left, "*")); len(found) > 0 {
			t.Errorf("after the last task, there are still %q", found)
		}
	}
}

type taskUser struct {
	t    *testing.T
	home string
	env  []string
}

func (u *taskUser) write(path, text string) {
	u.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// deny lets the agent search the web in vain.
func (u *taskUser) deny(query string) {
	u.t.Helper()
	cmd := u.shell("docsearch hook")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_input": {"query": %q}}`, query))
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 {
		u.t.Fatalf("the search %q is not denied: %s", query, out)
	}
}

func (u *taskUser) shell(script string) *exec.Cmd {
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = u.home, u.env
	return cmd
}

// run runs the lines of a block in one shell. A line whose comment says that it asks, or needs
// what is not here, must fail and say so.
func (u *taskUser) run(title, block string) {
	var lines []string
	for line := range strings.Lines(block) {
		command, comment, _ := strings.Cut(strings.TrimSpace(line), " #")
		switch {
		case strings.Contains(comment, "asks"):
			out, err := u.shell(command).CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("--yes")) {
				u.t.Errorf("%s: %s: does not ask: %v\n%s", title, command, err, out)
			}
		case strings.Contains(comment, "needs"):
			if out, err := u.shell(command).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("docsearch: ")) {
				u.t.Errorf("%s: %s: %v\n%s", title, command, err, out)
			}
		case strings.Contains(comment, "Ctrl+C"):
			u.interrupt(title, command)
		default:
			lines = append(lines, command)
		}
	}
	if out, err := u.shell(strings.Join(lines, "\n")).CombinedOutput(); err != nil {
		u.t.Errorf("%s: %v\n%s", title, err, out)
	}
}

// interrupt runs a command until it has printed a line, and ends it as Ctrl+C does.
func (u *taskUser) interrupt(title, command string) {
	cmd := u.shell("exec " + command)
	out, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	first := make([]byte, 4096)
	n, err := out.Read(first)
	if err != nil {
		u.t.Errorf("%s: %s: %v", title, command, err)
	}
	cmd.Process.Signal(syscall.SIGINT)
	stop := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	rest := new(bytes.Buffer)
	rest.ReadFrom(out)
	if err := cmd.Wait(); err != nil {
		u.t.Errorf("%s: %s ended with %v: %s%s", title, command, err, first[:n], rest)
	}
}
