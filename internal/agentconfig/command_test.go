package agentconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFindHook(t *testing.T) {
	for _, test := range []struct {
		line    string
		program string // "": none
		via     string
		other   string
	}{
		{line: `docsearch hook`, program: "docsearch"},
		{line: `/usr/local/bin/docsearch hook`, program: "/usr/local/bin/docsearch"},
		{line: `"/home/me/my tools/docsearch" hook`, program: "/home/me/my tools/docsearch"},
		{line: `'/it''s/docsearch' hook`, program: "/its/docsearch"},
		{line: `/a\ b/docsearch hook`, program: "/a b/docsearch"},
		{line: `~/go/bin/docsearch hook`, program: "~/go/bin/docsearch"},
		{line: `$HOME/go/bin/docsearch hook`, program: "$HOME/go/bin/docsearch"},
		{line: `docsearch hook || true`, program: "docsearch"},
		{line: `docsearch hook; exit 0`, program: "docsearch"},
		{line: `docsearch hook;exit 0`, program: "docsearch"},
		{line: "docsearch hook\nexit 0", program: "docsearch"},
		{line: `docsearch hook 2>/dev/null || :`, program: "docsearch"},
		{line: `docsearch hook>/tmp/x`, program: "docsearch"},
		{line: `trap 'exit 0' EXIT; docsearch hook`, program: "docsearch"},
		{line: strings.Replace(posixForm, "%s", "/x/docsearch", 1), program: "/x/docsearch"},
		{line: strings.Replace(windowsForm, "%s", `C:/x/docsearch.exe`, 1), program: "C:/x/docsearch.exe"},
		{line: strings.Replace(sharedForm, "%s", "docsearch", 1), program: "docsearch"},
		{line: `env A=1 B="2 3" docsearch hook`, program: "docsearch"},
		{line: `A=1 exec docsearch hook`, program: "docsearch"},
		{line: `DOCSEARCH_DEBUG=1 "C:\Program Files\docsearch.exe" hook`, program: `C:\Program Files\docsearch.exe`},
		{line: `& "C:\Program Files\docsearch\docsearch.exe" hook; exit 0`, program: `C:\Program Files\docsearch\docsearch.exe`},
		{line: `$env:A='1'; docsearch hook`, program: "docsearch"},
		{line: `docsearch --quiet hook`, program: "docsearch"},
		{line: `( docsearch hook )`, program: "docsearch"},
		{line: `if true; then docsearch hook; fi`, program: "docsearch"},
		{line: `p=/opt/docsearch; "$p" hook`, program: "/opt/docsearch"},
		{line: `p="${CLAUDE_PLUGIN_ROOT}/bin/docsearch"; [ -x "$p" ] || p="${CLAUDE_PLUGIN_ROOT}/scripts/docsearch"; exec "$p" hook`, program: "${CLAUDE_PLUGIN_ROOT}/scripts/docsearch"},
		{line: `sh -c 'docsearch hook'`, program: "docsearch", via: "sh"},
		{line: `bash -lc "DOCSEARCH_DEBUG=1 docsearch hook || true"`, program: "docsearch", via: "bash"},
		{line: `sh -c "sh -c 'docsearch hook'"`, program: "docsearch", via: "sh"},
		{line: `npx docsearch hook`, program: "docsearch", via: "npx"},
		{line: `npx -y docsearch@1.2.3 hook`, program: "docsearch@1.2.3", via: "npx"},
		{line: `bunx docsearch hook`, program: "docsearch", via: "bunx"},
		{line: `mise exec -- docsearch hook`, program: "docsearch", via: "mise"},
		{line: `go run github.com/docsearch/docsearch/cmd/docsearch@latest hook`, program: "github.com/docsearch/docsearch/cmd/docsearch@latest", via: "go"},
		{line: `nix run nixpkgs#docsearch -- hook`, program: "nixpkgs#docsearch", via: "nix"},
		{line: `docker run --rm -i registry.example/docsearch:1 hook`, program: "registry.example/docsearch:1", via: "docker"},
		{line: `timeout 5 docsearch hook`, program: "docsearch", via: "timeout"},
		{line: `cmd /c docsearch hook`, program: "docsearch", via: "cmd"},
		{line: `python3 ~/.claude/hooks/docsearch.py`, program: "~/.claude/hooks/docsearch.py", via: "python3"},
		{line: `PATH=/evil docsearch hook`, program: "docsearch", via: "PATH=/evil"},
		{line: `PATH=/evil; docsearch hook`, program: "docsearch", via: "PATH=/evil"},
		{line: `env PATH=/evil docsearch hook`, program: "docsearch", via: "PATH=/evil"},
		{line: `PATH=/evil /usr/bin/docsearch hook`, program: "/usr/bin/docsearch"},
		{line: `tee /tmp/events | docsearch hook`, program: "docsearch", other: "tee"},
		{line: `docsearch hook; rm -rf /tmp/x`, program: "docsearch", other: "rm"},
		{line: `x=$(docsearch hook)`, program: "docsearch"},
		{line: `docsearch hook; : > /tmp/x`, program: "docsearch", other: ":"},
		{line: `docsearch hook $(touch /tmp/x)`, program: "docsearch", other: "touch"},

		{line: ``},
		{line: `docsearch`},
		{line: `docsearch serve`},
		{line: `docsearch; hook`},
		{line: `check.sh docsearch`},
		{line: `/opt/docsearch/other hook`},
		{line: `# docsearch hook`},
		{line: `echo 'docsearch`},
	} {
		got, ok := findHook(test.line)
		if ok != (test.program != "") || got.program != test.program || got.via != test.via || got.otherCommand != test.other {
			t.Errorf("%s\ngot program %q via %q other %q, want %q, %q, %q", test.line, got.program, got.via, got.otherCommand, test.program, test.via, test.other)
		}
	}
}

// The command that install writes exits with code 0 in every shell, even if the
// program fails, and passes standard input and output through.
func TestFormsInShells(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: sh not found")
	}
	dir := filepath.Join(t.TempDir(), "a b'c")
	program := filepath.Join(dir, "docsearch")
	write(t, program, "#!/bin/sh\nread line\necho \"got $line $*\"\neval \"$line\"\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "dash", "bash", "busybox", "zsh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		args := []string{"-c"}
		if shell == "busybox" {
			args = []string{"sh", "-c"}
		}
		for _, scope := range Scopes {
			for _, end := range []string{"exit 0", "exit 1", "exit 2", "kill -ABRT $$", "kill -KILL $$"} {
				cmd := exec.CommandContext(t.Context(), path, append(args, HookCommand(scope, program))...)
				cmd.Stdin = strings.NewReader(end + "\n")
				out, err := cmd.Output()
				if want := "got " + end + " hook\n"; err != nil || string(out) != want {
					t.Errorf("%s, %s, %s: %v, %q, want %q", shell, scope, end, err, out, want)
				}
			}
			cmd := exec.CommandContext(t.Context(), path, append(args, HookCommand(scope, "/nowhere/docsearch"))...)
			if out, err := cmd.Output(); err != nil || len(out) > 0 {
				t.Errorf("%s, %s, no program: %v, %q", shell, scope, err, out)
			}
		}
	}
}

func TestHarmless(t *testing.T) {
	for _, scope := range Scopes {
		for _, program := range []string{"docsearch", "/opt/docsearch", "/a b/docsearch"} {
			if command := HookCommand(scope, program); !harmless(command) {
				t.Errorf("%s: %s counts as harmful", scope, command)
			}
		}
	}
	for _, command := range []string{"docsearch hook", "A=1 docsearch hook", "exec docsearch hook", "trap 'exit 0' EXIT; docsearch hook; rm x", "trap 'exit 0' EXIT; npx docsearch hook", "trap 'exit 2' EXIT; docsearch hook"} {
		if harmless(command) {
			t.Errorf("%s counts as harmless", command)
		}
	}
}

func FuzzFindHook(f *testing.F) {
	for _, line := range []string{
		`A=1 "/a b/docsearch" hook 2>>/tmp/log || true`, `set x \"; trap 'exit 0' EXIT; : \"; docsearch hook; exit 0`,
		`sh -c "sh -c 'docsearch hook'"`, `p=docsearch; $p hook`, "`docsearch hook`", `\`, `"`, `docsearch hook #`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, ok := findHook(line)
		if ok && h.program == "" {
			t.Errorf("%q: a hook without a program", line)
		}
		if h.end == 0 {
			return
		}
		if h.start < 0 || h.start >= h.end || h.end > len(line) {
			t.Fatalf("%q: the program is at %d to %d", line, h.start, h.end)
		}
		if words := lex(line[h.start:h.end]); len(words) != 1 || words[0].text != h.program {
			t.Errorf("%q: the program %q is not at %d to %d", line, h.program, h.start, h.end)
		}
		// With another program it is the same hook of that program.
		moved := line[:h.start] + quote("/opt/docsearch") + line[h.end:]
		if again, ok := findHook(moved); !ok || again.program != "/opt/docsearch" || again.via != h.via || again.otherCommand != h.otherCommand {
			t.Errorf("%q became %q, which reads as %+v, was %+v", line, moved, again, h)
		}
	})
}
