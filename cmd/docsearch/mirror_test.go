package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A machine of its own for runs of the program.
type testMachine struct {
	t    *testing.T
	home string
	env  []string
}

func newTestMachine(t *testing.T, env ...string) *testMachine {
	t.Helper()
	home := t.TempDir()
	return &testMachine{t, home, append(os.Environ(), append(env, "HOME="+home, "USERPROFILE="+home, "LOCALAPPDATA="+home,
		"XDG_DATA_HOME=", "XDG_CACHE_HOME=", "DOCSEARCH_CONFIG_PATH="+filepath.Join(home, "config.json"),
		"DOCSEARCH_DATA="+filepath.Join(home, "data"), "DOCSEARCH_CACHE_DIR="+filepath.Join(home, "cache"))...)}
}

// run runs the program and returns its output. The exit code must be code.
func (m *testMachine) run(code int, stdin string, args ...string) string {
	m.t.Helper()
	cmd := exec.Command("docsearch", args...)
	cmd.Env, cmd.Dir, cmd.Stdin = m.env, m.home, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		m.t.Fatalf("docsearch %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serve starts a server, and returns its URL and the function that kills it.
func (m *testMachine) serve(options ...string) (url string, kill func()) {
	m.t.Helper()
	cmd := exec.Command("docsearch", append([]string{"serve", "--http", "127.0.0.1:0"}, options...)...)
	cmd.Env = m.env
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	m.t.Cleanup(kill)
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), "/mcp"), "serving on ")
	if err != nil || !ok {
		m.t.Fatalf("%v: %s", err, line)
	}
	return url, kill
}

func (m *testMachine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// wait gives the team servers in the config time for an answer: the machine may be busy.
func (m *testMachine) wait() {
	m.t.Helper()
	path := filepath.Join(m.home, "config.json")
	data, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	const token = `"token_env": "TEAM_TOKEN"`
	text := strings.ReplaceAll(string(data), token, token+`, "timeout_ms": 30000`)
	if text == string(data) {
		m.t.Fatalf("no server in %s", text)
	}
	m.write("config.json", text)
}

const widgetSearch = `{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "WebSearch", "tool_input": {"query": "widgets spin_widget handle"}}`

// TestMirror keeps the packs of a server on another machine, where the hook answers
// without the server and without the network. The publisher must be trusted there.
func TestMirror(t *testing.T) {
	publisher := newTestMachine(t)
	publisher.write("docs/use.md", "# Use widgets\n\nA widget spins when you call spin_widget with its handle.\n")
	publisher.write("docs/install.md", "# Install widgets\n\nRun the installer with the flag --frobnicate to install all widgets.\n")
	publisher.run(0, "", "index", "build", "docs", "--name", "widgets", "-q")
	key := ""
	for line := range strings.Lines(publisher.run(0, "", "pack", "key", "new", "docs.example.com")) {
		if strings.HasPrefix(line, "docs.example.com+") {
			key = strings.TrimSpace(line)
		}
	}
	pack := func(version string) {
		publisher.run(0, "", "pack", "make", "widgets", "--license", "MIT", "--attribution", "Widgets", "--version", version, "-o", "widgets.dspack", "-q")
	}
	pack("1.9")
	files := httptest.NewServer(http.FileServer(http.Dir(publisher.home)))
	defer files.Close()

	server := newTestMachine(t, "DOCSEARCH_TOKEN=s3cret")
	server.write("notes/a.md", "# Rota\n\nThe rota is in the handbook.\n")
	server.run(0, "", "setup", "rota", "notes", "--description", "Rota", "--no-install", "--yes")
	server.run(0, "", "pack", "add", files.URL+"/widgets.dspack", "--key", key, "--yes")
	url, kill := server.serve()

	client := newTestMachine(t, "TEAM_TOKEN=s3cret")
	setup := []string{"setup", "--server", url, "--token-env", "TEAM_TOKEN", "--mirror", "--no-install", "--yes"}
	out := client.run(0, "", setup...)
	client.wait()
	for _, want := range []string{"rota: Rota (keywords: rota); not mirrored", "cannot mirror widgets of " + url + ": unknown publisher docs.example.com+"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	if out := client.run(2, widgetSearch, "hook"); !strings.Contains(out, "widgets 1.9") || !strings.Contains(out, " on 127.0.0.1") {
		t.Errorf("before the mirror: %s", out)
	}
	if out := client.run(0, "", "why", "widgets spin_widget handle"); !strings.Contains(out, "server: "+url+", confidence ") || !strings.Contains(out, " - answers") ||
		!strings.Contains(out, "rota\n") || !strings.Contains(out, "server: "+url+", not asked") || !strings.Contains(out, "outcome: denied, with passages from widgets") {
		t.Errorf("why: %s", out)
	}
	if out := client.run(1, "", "doctor"); !strings.Contains(out, "ok    team server "+url+": docsearch ") || !strings.Contains(out, "databases: rota, widgets 1.9\n") ||
		!strings.Contains(out, "not mirrored: widgets\n      fix: docsearch update --mirrors") {
		t.Errorf("doctor: %s", out)
	}
	if out := client.run(0, "", append(setup, "--key", key)...); !strings.Contains(out, "widgets: received ") {
		t.Errorf("the mirror was not built: %s", out)
	}
	if out := client.run(0, "", "list"); !regexp.MustCompile(`(?m)^widgets +ok .*\.mirrors`).MatchString(out) ||
		!regexp.MustCompile(`(?m)^rota +ok .* `+regexp.QuoteMeta(url)+` \(docsearch server\)$`).MatchString(out) {
		t.Errorf("the list of databases: %s", out)
	}

	pack("2.0")
	server.run(0, "", "pack", "update", "widgets")
	if out := client.run(0, "", "update", "--mirrors"); !strings.Contains(out, "widgets: ") {
		t.Errorf("the update of the mirror: %s", out)
	}
	kill()
	files.Close()
	for range 2 { // without a snapshot, and with it
		os.RemoveAll(filepath.Join(client.home, "docsearch-denials"))
		out := client.run(2, widgetSearch, "hook")
		if !strings.Contains(out, "widgets 2.0") || !strings.Contains(out, "published by docs.example.com") || strings.Contains(out, " on 127.0.0.1") || strings.Contains(out, "s3cret") {
			t.Errorf("without the server: %s", out)
		}
	}
	if out := client.run(1, "", "doctor"); !strings.Contains(out, "FAIL  team server "+url+": ") || strings.Contains(out, "s3cret") {
		t.Errorf("doctor without the server: %s", out)
	}
	if out := client.run(0, "", "why", "rota handbook"); !strings.Contains(out, "no answer: ") || !strings.Contains(out, "outcome: runs as usual") {
		t.Errorf("why without the server: %s", out)
	}
	if out := client.run(1, "", "update", "--mirrors"); !strings.Contains(out, "cannot list the databases of "+url) {
		t.Errorf("without the server: %s", out)
	}

	// A database that the server no longer lists loses its mirror.
	server.run(0, "", "index", "remove", "widgets", "--yes")
	url2, _ := server.serve()
	client.write("config.json", strings.ReplaceAll(read(t, filepath.Join(client.home, "config.json")), url, url2))
	client.run(0, "", "update", "--mirrors")
	if left, err := os.ReadDir(filepath.Join(client.home, "data", ".mirrors")); err != nil || len(left) > 0 {
		t.Errorf("%v, the mirrors %v are left", err, left)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
