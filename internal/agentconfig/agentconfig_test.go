package agentconfig

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/file/filetest"
	"github.com/docsearch/docsearch/internal/file/inplace"
)

// allRegistrations are the events of the full coverage.
var allRegistrations = registrations("docsearch", config.FullCoverage())

func TestInstallAndUninstall(t *testing.T) {
	for _, scope := range Scopes {
		t.Run(string(scope), func(t *testing.T) {
			c := testClaude(t)
			for name, before := range layouts {
				write(t, c.Settings(scope), before)
				write(t, c.Servers(scope), before)
				plan, err := c.Install(scope, ProgramAt(program))
				if decode.CheckJSON([]byte(strings.TrimPrefix(before, bom))) != nil && strings.TrimSpace(before) != "" {
					var ignored *IgnoredError
					if !errors.As(err, &ignored) || read(t, c.Settings(scope)) != before {
						t.Errorf("%s: error = %v, want that Claude Code ignores the file", name, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				apply(t, plan)
				for _, path := range []string{c.Settings(scope), c.Servers(scope)} {
					if !strings.Contains(read(t, path), program) {
						t.Errorf("%s: %s has no entry:\n%s", name, path, read(t, path))
					}
				}
				if plan, err = c.Install(scope, ProgramAt(program)); err != nil || len(plan) > 0 {
					t.Errorf("%s: a second install would change %v, %v", name, paths(plan), err)
				}
				plan, err = c.Uninstall(scope)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				apply(t, plan)
				for _, path := range []string{c.Settings(scope), c.Servers(scope)} {
					if diff := cmp.Diff(before, read(t, path)); diff != "" {
						t.Errorf("%s: %s is not as it was (-before +after):\n%s", name, path, diff)
					}
				}
				removeBackups(t, c, scope)
			}
		})
	}
}

// Uninstall also removes docsearch from files that Claude Code ignores.
func TestUninstallFromIgnoredFile(t *testing.T) {
	c := testClaude(t)
	const before = "{\n  // mine\n  \"model\": \"opus\",\n}\n"
	write(t, c.Settings(User), edited(t, before, func(d *inplace.Document) error { return putHook(d, invocation{scope: User}, program, allRegistrations) }))
	plan, err := c.Uninstall(User)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	if got := read(t, c.Settings(User)); got != before {
		t.Errorf("uninstall left %q, want %q", got, before)
	}
}

// Uninstall keeps an entry that also runs another command, and other hooks.
func TestUninstallLeavesOthers(t *testing.T) {
	c := testClaude(t)
	before := settingsWith(t, "tee /tmp/events | docsearch hook", 5)
	write(t, c.Settings(User), before)
	if plan, err := c.Uninstall(User); err != nil || len(plan) > 0 {
		t.Errorf("uninstall would change %v, %v", paths(plan), err)
	}
	before = settingsWith(t, "python3 docsearch.py", 5)
	write(t, c.Settings(User), before)
	if plan, err := c.Uninstall(User); err != nil || len(plan) > 0 {
		t.Errorf("uninstall would change %v, %v", paths(plan), err)
	}
}

func TestFilesThatWereNotThere(t *testing.T) {
	for _, scope := range Scopes {
		t.Run(string(scope), func(t *testing.T) {
			c := testClaude(t)
			plan, err := c.Install(scope, ProgramAt(program))
			if err != nil {
				t.Fatal(err)
			}
			apply(t, plan)
			if len(plan) != 2 {
				t.Fatalf("install changes %v, want two files", paths(plan))
			}
			if runtime.GOOS != "windows" && scope != Project {
				st, err := os.Stat(c.Settings(scope))
				if err != nil || st.Mode().Perm() != 0o600 {
					t.Errorf("settings have mode %v, %v; want 0600", st.Mode(), err)
				}
			}
			if plan, err = c.Uninstall(scope); err != nil {
				t.Fatal(err)
			}
			apply(t, plan)
			for _, path := range []string{c.Settings(scope), c.Servers(scope)} {
				if exists(path) {
					t.Errorf("%s is still there: %s", path, read(t, path))
				}
			}
			if plan, err = c.Uninstall(scope); err != nil || len(plan) > 0 {
				t.Errorf("a second uninstall would change %v, %v", paths(plan), err)
			}
		})
	}
}

// Uninstall keeps changes that others made after install.
func TestUninstallKeepsLaterChanges(t *testing.T) {
	c := testClaude(t)
	write(t, c.Settings(User), "{\n  \"model\": \"opus\"\n}\n")
	write(t, c.Servers(User), `{"mcpServers": {}, "numStartups": 1}`)
	plan, err := c.Install(User, ProgramAt(program))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	write(t, c.Settings(User), strings.Replace(read(t, c.Settings(User)), "opus", "sonnet", 1))
	write(t, c.Servers(User), strings.Replace(read(t, c.Servers(User)), "1}", "2}", 1))
	if plan, err = c.Uninstall(User); err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	if got, want := read(t, c.Settings(User)), "{\n  \"model\": \"sonnet\"\n}\n"; got != want {
		t.Errorf("settings are %q, want %q", got, want)
	}
	if got, want := read(t, c.Servers(User)), `{"numStartups": 2}`; got != want {
		t.Errorf("servers are %q, want %q", got, want)
	}
}

func TestInstallFollowsTheProgram(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"moved":              {`/old/docsearch hook`, HookCommand(User, program)},
		"quoted":             {`"/old place/docsearch" hook`, HookCommand(User, program)},
		"from the path":      {`docsearch hook`, HookCommand(User, program)},
		"with variables":     {`DOCSEARCH_DEBUG=1 A="b c" '/old/docsearch' hook 2>>/tmp/log`, strings.Replace(commandForm(User), "%s hook", `DOCSEARCH_DEBUG=1 A="b c" `+program+" hook 2>>/tmp/log", 1)},
		"windows":            {`"C:\Program Files\docsearch.exe" hook`, HookCommand(User, program)},
		"unchanged":          {HookCommand(User, program), HookCommand(User, program)},
		"of another scope":   {HookCommand(Project, "docsearch"), HookCommand(User, program)},
		"of another system":  {strings.Replace(windowsForm, "%s", "C:/docsearch.exe", 1), HookCommand(User, program)},
		"harmless by itself": {`/old/docsearch hook || true`, `/opt/tools/docsearch hook || true`},
		"in company":         {`tee /tmp/x | /old/docsearch hook`, `tee /tmp/x | /opt/tools/docsearch hook`},
		"by a launcher":      {`npx docsearch hook`, `npx docsearch hook`},
		"within quotes":      {`sh -c '/old/docsearch hook'`, `sh -c '/old/docsearch hook'`},
	} {
		t.Run(name, func(t *testing.T) {
			before := settingsWith(t, test.before, 42)
			after := edited(t, before, func(d *inplace.Document) error { return putHook(d, invocation{scope: User}, program, allRegistrations) })
			if diff := cmp.Diff(settingsWith(t, test.after, 42), after); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	exec := strings.ReplaceAll(settingsWith(t, "/old/docsearch", 42), `"timeout"`, `"args": ["hook"], "timeout"`)
	if got, want := edited(t, exec, func(d *inplace.Document) error { return putHook(d, invocation{scope: User}, program, allRegistrations) }), strings.ReplaceAll(exec, "/old/docsearch", program); got != want {
		t.Errorf("the form with arguments became %s, want %s", got, want)
	}
	server := `{"mcpServers": {"docsearch": {"command": "/old/docsearch", "args": ["serve", "--leann-compat"], "env": {}}}}`
	if got, want := edited(t, server, func(d *inplace.Document) error { return userServer.putIn(d, program) }), strings.Replace(server, "/old/docsearch", program, 1); got != want {
		t.Errorf("the server became %s, want %s", got, want)
	}
}

// Install adds entries only for the tools that no entry covers.
func TestInstallAddsWhatIsMissing(t *testing.T) {
	before := `{"hooks": {"PreToolUse": [
  {"matcher": "WebSearch|Edit", "hooks": [{"type": "command", "command": "/opt/tools/docsearch hook"}]},
  {"matcher": "Write", "hooks": [{"type": "command", "command": "format.sh"}]}
]}}`
	after := edited(t, before, func(d *inplace.Document) error { return putHook(d, invocation{scope: User}, program, allRegistrations) })
	matchers := map[string]string{}
	d, err := parse([]byte(after))
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := hookEntries(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		matchers[h.event] += h.matcher + ";"
	}
	want := map[string]string{
		"PreToolUse":         "WebSearch|Edit;WebFetch;Bash|MultiEdit|NotebookEdit|Write;ReadMcpResourceTool;mcp__.*;",
		"PostToolUseFailure": "Bash;",
		"SessionStart":       ";",
		"SubagentStart":      ";",
	}
	if diff := cmp.Diff(want, matchers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The plugin registers the same events as install. The events that old versions
// do not know are in a separate file.
func TestPluginHearsTheSame(t *testing.T) {
	registered := func(data []byte) map[string][]string {
		d, err := parse(data)
		if err != nil {
			t.Fatal(err)
		}
		hooks, err := hookEvents(d)
		if err != nil {
			t.Fatal(err)
		}
		matchers := map[string][]string{}
		for _, m := range hooks.Members {
			groups, err := groupsOf(hooks, m.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range objects(groups) {
				matchers[m.Name] = append(matchers[m.Name], group.Member("matcher").Text())
			}
		}
		return matchers
	}
	for name, late := range map[string]bool{"hooks.json": false, "events.json": true} {
		data, err := os.ReadFile(filepath.Join("..", "..", "plugin", "hooks", name))
		if err != nil {
			t.Fatal(err)
		}
		want := registered([]byte(edited(t, "{}", func(d *inplace.Document) error { return putHook(d, invocation{scope: User}, program, allRegistrations) })))
		for _, w := range allRegistrations {
			if w.late != late {
				delete(want, w.event)
			}
		}
		if diff := cmp.Diff(want, registered(data)); diff != "" {
			t.Errorf("%s (-install +plugin):\n%s", name, diff)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		matcher, tool string
		want          bool
	}{
		{"", "WebSearch", true},
		{"*", "WebSearch", true},
		{"WebSearch", "WebSearch", true},
		{"WebFetch|WebSearch", "WebSearch", true},
		{"WebFetch, WebSearch", "WebSearch", true},
		{"Web", "WebSearch", false},
		{"Web.*", "WebSearch", true},
		{"^WebSearch$", "WebSearch", true},
		{"mcp__docsearch", "mcp__docsearch__search", false},
		{"mcp__docsearch__.*", "mcp__docsearch__search", true},
		{"mcp__leann__.*", "mcp__docsearch__search", false},
		{"(?!x)(", "WebSearch", false},
	} {
		if got := matches(test.matcher, test.tool); got != test.want {
			t.Errorf("matcher %q on %s: %v, want %v", test.matcher, test.tool, got, test.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, path := range []string{
		"/usr/bin/docsearch", "/a b/docsearch", `/it's "quoted"/docsearch`, "/$HOME/`x`/docsearch", `/back\slash/docsearch`, "/ünï/docsearch", "/a;b&c|d/docsearch", "",
	} {
		if runtime.GOOS == "windows" {
			path = filepath.FromSlash(path)
		}
		words := lex(quote(path) + " hook")
		if want := filepath.ToSlash(path); words[0].text != want || words[0].start != 0 || words[0].end != len(quote(path)) {
			t.Errorf("quote(%q) = %s reads as %q", path, quote(path), words[0].text)
		}
	}
}

// If one file is damaged, install writes neither of them.
func TestDamagedFile(t *testing.T) {
	for _, damaged := range []int{0, 1} {
		c := testClaude(t)
		files := []string{c.Settings(User), c.Servers(User)}
		write(t, files[damaged], `{"hooks": {`)
		write(t, files[1-damaged], "{}")
		_, err := c.Install(User, ProgramAt(program))
		if err == nil || !strings.Contains(err.Error(), files[damaged]+":1:12: Claude Code ignores the whole file: unexpected end of file") {
			t.Errorf("error = %v", err)
		}
		if got := read(t, files[damaged]); got != `{"hooks": {` {
			t.Errorf("the damaged file became %q", got)
		}
		if got := read(t, files[1-damaged]); got != "{}" {
			t.Errorf("the other file became %q", got)
		}
	}
}

func TestBackups(t *testing.T) {
	c := testClaude(t)
	path := c.Settings(User)
	version := func(name string) string { return "{\n  \"model\": \"" + name + "\"\n}\n" }
	first, last := version("first"), version("last")
	for _, contents := range []string{first, version("second"), first, version("third"), last} {
		write(t, path, contents)
		plan, err := c.Install(User, ProgramAt(program))
		if err != nil {
			t.Fatal(err)
		}
		apply(t, plan[:1])
	}
	if got := read(t, path+".before-docsearch"); got != first {
		t.Errorf("the first copy is %q, want %q", got, first)
	}
	if got := read(t, path+".before-docsearch-2"); got != last {
		t.Errorf("the second copy is %q, want %q", got, last)
	}
	if exists(path + ".before-docsearch-3") {
		t.Error("there are more copies than the first and the last")
	}
}

func TestSymbolicLink(t *testing.T) {
	for name, contents := range map[string]string{"to a file": "{\n  \"model\": \"opus\"\n}\n", "to nothing": ""} {
		t.Run(name, func(t *testing.T) {
			c := testClaude(t)
			target := filepath.Join(t.TempDir(), "dotfiles", "claude.json")
			if contents != "" {
				write(t, target, contents)
			}
			if err := os.MkdirAll(filepath.Dir(c.Settings(User)), 0o755); err != nil {
				t.Fatal(err)
			}
			to, err := filepath.Rel(filepath.Dir(c.Settings(User)), target)
			if err != nil {
				t.Fatal(err)
			}
			filetest.Symlink(t, to, c.Settings(User))
			plan, err := c.Install(User, ProgramAt(program))
			if err != nil {
				t.Fatal(err)
			}
			apply(t, plan)
			if st, err := os.Lstat(c.Settings(User)); err != nil || st.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v, %v", st.Mode(), err)
			}
			if !strings.Contains(read(t, target), program) {
				t.Errorf("the file behind the link is %s", read(t, target))
			}
			if plan, err = c.Uninstall(User); err != nil {
				t.Fatal(err)
			}
			apply(t, plan)
			if contents != "" && read(t, target) != contents {
				t.Errorf("the file behind the link became %s", read(t, target))
			}
		})
	}
}

func TestFileModeStays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: Windows has no such modes")
	}
	c := testClaude(t)
	write(t, c.Servers(User), "{}")
	if err := os.Chmod(c.Servers(User), 0o640); err != nil {
		t.Fatal(err)
	}
	plan, err := c.Install(User, ProgramAt(program))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	for _, path := range []string{c.Servers(User), c.Servers(User) + ".before-docsearch"} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("%s has mode %v, %v; want 0640", path, st.Mode(), err)
		}
	}
}

// Claude Code writes its state while docsearch runs. Install waits for a lock
// that Claude Code holds, ignores a stale lock, and keeps the contents that
// Claude Code wrote in between.
func TestRunningClaude(t *testing.T) {
	c := testClaude(t)
	write(t, c.Servers(User), `{"numStartups": 1}`)
	plan, err := c.Install(User, ProgramAt(program))
	if err != nil {
		t.Fatal(err)
	}
	lock := c.Servers(User) + ".lock"
	if err := os.Mkdir(lock, 0o755); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() {
		os.WriteFile(c.Servers(User), []byte(`{"numStartups": 2}`), 0o600)
		os.Remove(lock)
	})
	apply(t, plan)
	if got := read(t, c.Servers(User)); !strings.HasPrefix(got, `{"numStartups": 2, "mcpServers": {"docsearch":`) {
		t.Errorf("the file is %s", got)
	}
	if exists(lock) {
		t.Error("the lock was not given back")
	}

	if err := os.Mkdir(lock, 0o755); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(lock, long, long); err != nil {
		t.Fatal(err)
	}
	if plan, err = c.Uninstall(User); err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
}

func TestFindClaude(t *testing.T) {
	home, config := t.TempDir(), t.TempDir()
	repo := realPath(t, t.TempDir())
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	sub := filepath.Join(repo, "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	find := func() *Claude {
		t.Helper()
		c, err := FindClaude(sub)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	same := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	c := find()
	same(c.Settings(User), filepath.Join(home, ".claude", "settings.json"))
	same(c.Servers(User), filepath.Join(home, ".claude.json"))
	same(c.Settings(Local), filepath.Join(sub, ".claude", "settings.local.json"))
	if err := os.Mkdir(filepath.Join(repo, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	c = find()
	same(c.Settings(Project), filepath.Join(repo, ".claude", "settings.json"))
	same(c.Servers(Project), filepath.Join(repo, ".mcp.json"))
	same(c.Servers(Local), filepath.Join(home, ".claude.json"))
	write(t, filepath.Join(home, ".claude", ".config.json"), "{}")
	same(find().Servers(User), filepath.Join(home, ".claude", ".config.json"))
	t.Setenv("CLAUDE_CONFIG_DIR", config)
	same(find().Settings(User), filepath.Join(config, "settings.json"))
	same(find().Servers(User), filepath.Join(config, ".claude.json"))
}

func TestDiffMasksSecrets(t *testing.T) {
	c := testClaude(t)
	write(t, c.Servers(User), `{
  "primaryApiKey": "sk-hidden-1",
  "env": {"GITHUB_TOKEN": "hidden\"2", "password" : "hidden3"},
  "numStartups": 4
}
`)
	plan, err := c.Install(User, ProgramAt(program))
	if err != nil {
		t.Fatal(err)
	}
	text := plan[1].Diff()
	if strings.Contains(text, "hidden") || !strings.Contains(text, `"primaryApiKey": "..."`) {
		t.Errorf("the diff is\n%s", text)
	}
	if !strings.Contains(text, "+      \"command\": \"/opt/tools/docsearch\",\n") {
		t.Errorf("the diff lacks the entry:\n%s", text)
	}
	if read(t, c.Servers(User)) != string(plan[1].before) {
		t.Error("a diff changed the file")
	}
}

// A change between the server and the command line replaces the hooks module without a backup,
// unless the user has edited it.
func TestModuleForms(t *testing.T) {
	c := testClaude(t)
	install := func() {
		t.Helper()
		changes, err := c.InstallModule(ProgramAt("/bin/docsearch"))
		if err != nil {
			t.Fatal(err)
		}
		apply(t, changes)
	}
	module := filepath.Join(c.settings, "skills", "docsearch", "register.ts")
	backups := func() []string {
		t.Helper()
		found, err := filepath.Glob(module + ".before-docsearch*")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, cli := range []bool{false, true, false} {
		c.CLI = cli
		install()
		if got := strings.Contains(read(t, module), "'--cli'"); got != cli {
			t.Errorf("command line %t: the module has the flag: %t", cli, got)
		}
	}
	if found := backups(); len(found) > 0 {
		t.Errorf("backups of docsearch's own forms: %q", found)
	}
	write(t, module, read(t, module)+"// edited\n")
	c.CLI = true
	install()
	if found := backups(); len(found) != 1 {
		t.Errorf("backups of an edited module: %q", found)
	}
}

// testClaude returns a Claude with temporary folders.
func testClaude(t *testing.T) *Claude {
	t.Helper()
	home := t.TempDir()
	return &Claude{Server: "docsearch", Coverage: config.FullCoverage(), settings: filepath.Join(home, ".claude"), state: filepath.Join(home, ".claude.json"), project: t.TempDir()}
}

func apply(t *testing.T, plan []*Change) {
	t.Helper()
	for _, change := range plan {
		if _, err := change.Apply(); err != nil {
			t.Fatal(err)
		}
	}
}

func paths(plan []*Change) (paths []string) {
	for _, change := range plan {
		paths = append(paths, change.Path)
	}
	return paths
}

func write(t *testing.T, path, contents string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Clone(data))
}

func removeBackups(t *testing.T, c *Claude, s Scope) {
	t.Helper()
	for _, path := range []string{c.Settings(s), c.Servers(s)} {
		found, err := filepath.Glob(path + ".before-docsearch*")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			os.Remove(path)
		}
	}
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func settingsWith(t *testing.T, command string, timeout int) string {
	t.Helper()
	group := `[{"matcher": "", "hooks": [{"type": "command", "timeout": ` +
		toJSON(timeout) + `, "command": ` + toJSON(command) + `}]}]`
	var events []string
	for _, event := range []string{"PreToolUse", "PostToolUseFailure", "SessionStart", "SubagentStart"} {
		events = append(events, `"`+event+`": `+group)
	}
	return `{"hooks": {` + strings.Join(events, ", ") + `}}`
}
