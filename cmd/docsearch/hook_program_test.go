package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hookProgram returns the path of docsearch-hook next to docsearch.
func hookProgram(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(binary(tb), executable("docsearch-hook"))
}

// hookProgramAlone returns the path of docsearch-hook in a folder of its own.
func hookProgramAlone(tb testing.TB) string {
	tb.Helper()
	data, err := os.ReadFile(hookProgram(tb))
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), executable("docsearch-hook"))
	if err := os.WriteFile(path, data, 0o755); err != nil {
		tb.Fatal(err)
	}
	return path
}

// parsedRule is a config with a rule for parsed commands, which only docsearch can apply.
var parsedRule = strings.Replace(redirectConfig, "{", `{"routes": {"kubectl": {"command_pattern": "^kubectl", "commands": "parsed", "message": "Use the console."}},`, 1)

// duration matches the time in the line for the person.
var duration = regexp.MustCompile(` \(\d+ ms\)`)

// TestHookProgram checks that docsearch-hook answers as docsearch does, also if docsearch
// has to decide for it.
func TestHookProgram(t *testing.T) {
	enlarge := func(event string) string { // to more than the buffer of a pipe
		return strings.Replace(event, "{", `{"prompt": "`+strings.Repeat("one more word ", 20_000)+`", `, 1)
	}
	for _, test := range []struct {
		name, config string
		args         []string
		event        string
		denies       bool
	}{
		{"no match", redirectConfig, nil, webSearch("s", "cooking"), false},
		{"denial", redirectConfig, nil, webSearch("s", "gitlab"), true},
		{"rule for parsed commands", parsedRule, nil, toolCall("s", "Bash", "command", "cd x && kubectl get pods"), true},
		{"large event", parsedRule, nil, enlarge(toolCall("s", "Bash", "command", "cd x && kubectl get pods")), true},
		{"large event without a match", parsedRule, nil, enlarge(toolCall("s", "Bash", "command", "cd x && ls # kubectl")), false},
		{"broken config", "{", nil, webSearch("s", "gitlab"), false},
		{"no event", redirectConfig, nil, "", false},
		{"broken event", redirectConfig, nil, `{"tool_name": 1`, false},
		{"client", redirectConfig, []string{"--client", "codex"}, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"webrun","tool_input":{"search_query":[{"q":"gitlab"}]}}`, false},
		{"another form of the option", redirectConfig, []string{"--client=claude"}, webSearch("s", "gitlab"), true},
		{"unknown client", redirectConfig, []string{"--client", "nobody"}, webSearch("s", "gitlab"), false},
		{"unknown option", redirectConfig, []string{"--no-such-option"}, webSearch("s", "gitlab"), true},
		{"help", redirectConfig, []string{"--help"}, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			results := resultsOfPrograms(t, test.config, test.event, test.args)
			outOfTime := func(r hookResult) bool { return strings.Contains(r.stderr, "other patterns used the time limit") }
			for try := 0; try < 2 && slices.ContainsFunc(slices.Concat(results[:]...), outOfTime); try++ { // a busy machine
				results = resultsOfPrograms(t, test.config, test.event, test.args)
			}
			if !slices.Equal(results[0], results[1]) {
				t.Errorf("docsearch: %+v\ndocsearch-hook: %+v", results[0], results[1])
			}
			if r := results[1][1]; r.isDenial() != test.denies || test.denies && r.stderr == "" {
				t.Errorf("%+v, want a denial: %t", r, test.denies)
			}
		})
	}
}

// resultsOfPrograms returns the results of docsearch and of docsearch-hook for an event, each
// twice: the first run reads the config, the second one its snapshot.
func resultsOfPrograms(t *testing.T, config, event string, args []string) (results [2][]hookResult) {
	t.Helper()
	for i, program := range []string{"", hookProgram(t)} {
		h := newHookHome(t, config)
		h.program = program
		for range 2 {
			cmd := h.command()
			cmd.Args = append(cmd.Args, args...)
			r := h.result(cmd, strings.NewReader(event))
			r.stdout = duration.ReplaceAllString(strings.ReplaceAll(r.stdout, h.dir, "HOME"), "")
			r.stderr = strings.ReplaceAll(r.stderr, h.dir, "HOME")
			results[i] = append(results[i], r)
			h.forget() // the second run is no retry
		}
	}
	return results
}

// TestHookProgramOfAnotherVersion checks that docsearch-hook leaves the decision to
// docsearch if it does not know the format of the snapshot.
func TestHookProgramOfAnotherVersion(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	h.run(webSearch("a", "gitlab")).requireDenial(t)
	snapshots, err := filepath.Glob(filepath.Join(h.dir, ".cache", "docsearch", "config-*.snapshot"))
	if err != nil || len(snapshots) != 1 {
		t.Skipf("skipped: found the snapshots %q, %v", snapshots, err) // other systems have them elsewhere
	}
	data, err := os.ReadFile(snapshots[0])
	if err != nil {
		t.Fatal(err)
	}
	h.write(snapshots[0], strings.Replace(string(data), "docsearch snapshot ", "docsearch snapshot 9", 1))
	h.program = hookProgram(t)
	h.run(webSearch("b", "gitlab")).requireDenial(t)
	if restored, err := os.ReadFile(snapshots[0]); err != nil || string(restored) != string(data) {
		t.Errorf("docsearch wrote the snapshot %q, %v", restored, err)
	}
}

// TestHookProgramFailsOpen checks that the call runs as usual if docsearch-hook needs
// docsearch and cannot run it.
func TestHookProgramFailsOpen(t *testing.T) {
	program := hookProgramAlone(t)
	docsearch := filepath.Join(filepath.Dir(program), executable("docsearch"))
	script := func(text string) func() error {
		return func() error { return os.WriteFile(docsearch, []byte("#!/bin/sh\n"+text+"\n"), 0o755) }
	}
	for _, test := range []struct {
		name    string
		install func() error // installs docsearch
		stderr  string
		script  bool
	}{
		{"missing", func() error { return nil }, "no such file", false},
		{"itself", func() error { return os.Link(program, docsearch) }, "it is docsearch-hook", false},
		{"not executable", func() error { return os.WriteFile(docsearch, nil, 0o644) }, "permission denied", true},
		{"crashed", script("kill -ABRT $$"), "signal: aborted", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.script && runtime.GOOS == "windows" {
				t.Skip("skipped: needs sh")
			}
			if err := test.install(); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(docsearch)
			h := newHookHome(t, redirectConfig)
			h.program = program
			r := h.run(webSearch("s", "gitlab"))
			r.requirePass(t)
			const help = "; the call runs as usual; install docsearch-hook and docsearch in the same folder\n"
			if strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, help) || runtime.GOOS != "windows" && !strings.Contains(r.stderr, test.stderr) {
				t.Errorf("stderr %q", r.stderr)
			}
		})
	}
}

// TestHookProgramStartsDocsearch checks that docsearch-hook starts docsearch for work in
// the background.
func TestHookProgramStartsDocsearch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: needs sh")
	}
	h := newHookHome(t, strings.Replace(redirectConfig, "{", `{"update": {"on_session_start": true},`, 1))
	h.run(webSearch("s", "gitlab")).requireDenial(t) // writes the snapshot
	h.program = hookProgramAlone(t)
	started := filepath.Join(h.dir, "started.$$")
	h.write(filepath.Join(filepath.Dir(h.program), "docsearch"), "#!/bin/sh\necho \"$@\" >"+started+" && mv "+started+" "+started+".done\n")
	if err := os.Chmod(filepath.Join(filepath.Dir(h.program), "docsearch"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := h.run(`{"session_id":"s","cwd":"` + h.dir + `","hook_event_name":"SessionStart","source":"startup"}`)
	if r.code != 0 || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	// The hook updates all databases, and those of the project's versions. The test waits for both,
	// which write into its folder.
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		done, err := filepath.Glob(filepath.Join(h.dir, "started.*.done"))
		if err != nil {
			t.Fatal(err)
		}
		if len(done) == 2 {
			for _, file := range done {
				if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "update ") {
					t.Errorf("the hook started docsearch %s, %v", data, err)
				}
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the hook started docsearch %d times, want 2: %+v", len(done), r)
		}
	}
}

// TestHookProgramSize limits docsearch-hook: the larger a program, the slower it starts.
func TestHookProgramSize(t *testing.T) {
	info, err := os.Stat(hookProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(7_000_000); info.Size() > limit {
		t.Errorf("docsearch-hook has %d bytes, want at most %d", info.Size(), limit)
	}
}

// TestHookProgramVersion checks that both programs of a build have the same version.
func TestHookProgramVersion(t *testing.T) {
	var versions []string
	for _, name := range []string{"docsearch", "docsearch-hook"} {
		out, err := exec.Command(filepath.Join(binary(t), executable(name)), "version").Output()
		fields := strings.Fields(string(out))
		if err != nil || len(fields) < 2 || fields[0] != name {
			t.Fatalf("%s version: %v, %q", name, err, out)
		}
		versions = append(versions, fields[1])
	}
	if versions[0] != versions[1] {
		t.Errorf("the versions are %q", versions)
	}
}

// TestInstallHookProgram checks that install follows docsearch-hook as it comes and goes,
// and that the doctor tests it.
func TestInstallHookProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the doctor runs the hook by a POSIX shell")
	}
	h := newHookHome(t, redirectConfig)
	dir := t.TempDir()
	copyProgram := func(name string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(binary(t), name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "docsearch"), args...)
		cmd.Env, cmd.Dir = h.env, h.dir
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	want := func(out string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(out, line) {
				t.Errorf("want %q in\n%s", line, out)
			}
		}
	}
	// entries returns the number of hooks that run docsearch-hook, of all hooks, and of servers.
	entries := func() (small, hooks, servers int) {
		for _, path := range []string{".claude/settings.json", ".codex/hooks.json", ".claude.json", ".codex/config.toml"} {
			data, err := os.ReadFile(filepath.Join(h.dir, path))
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			small += strings.Count(text, filepath.Join(dir, "docsearch-hook")+" hook")
			hooks += strings.Count(text, " hook")
			servers += strings.Count(text, strconv.Quote(filepath.Join(dir, "docsearch")))
		}
		return small, hooks, servers
	}
	install := func() { want(run("install", "--client", "claude,codex"), "docsearch is installed for you") }

	copyProgram("docsearch")
	install()
	small, hooks, servers := entries()
	if small > 0 || hooks < 4 || servers != 2 {
		t.Errorf("without docsearch-hook: %d of %d hooks run it, %d servers", small, hooks, servers)
	}
	copyProgram("docsearch-hook")
	install()
	if a, b, c := entries(); a != hooks || b != hooks || c != servers {
		t.Errorf("with docsearch-hook: %d of %d hooks run it, %d servers; want %d hooks, %d servers", a, b, c, hooks, servers)
	}
	out := run("doctor")
	want(out, "ok    program: docsearch-hook ", "ok    hook: allows ", "codex hook: in ")
	if strings.Contains(out, "not this program") || strings.Contains(out, "FAIL  hook") {
		t.Errorf("the doctor printed\n%s", out)
	}

	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version=v99.0.0", "-o", filepath.Join(dir, "docsearch-hook"), "../docsearch-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want(run("doctor"), "FAIL  program: "+filepath.Join(dir, "docsearch-hook")+" is docsearch-hook v99.0.0, want docsearch-hook ", "fix: install docsearch again", "ok    hook: allows ")

	if err := os.Remove(filepath.Join(dir, "docsearch-hook")); err != nil {
		t.Fatal(err)
	}
	want(run("doctor"), "(program not found)")
	install()
	if a, b, c := entries(); a > 0 || b != hooks || c != servers {
		t.Errorf("docsearch-hook is gone: %d of %d hooks run it, %d servers", a, b, c)
	}
	run("uninstall")
	for _, path := range []string{".claude/settings.json", ".codex/hooks.json"} {
		if _, err := os.Stat(filepath.Join(h.dir, path)); err == nil {
			t.Errorf("uninstall left %s", path)
		}
	}
}
