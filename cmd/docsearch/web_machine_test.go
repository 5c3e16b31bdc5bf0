package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// A managedSite is the page of docsearch web in an empty home, and a client with a
// session.
type managedSite struct {
	t      *testing.T
	client *http.Client
	url    string
	home   string
}

func newManagedSite(t *testing.T) *managedSite {
	t.Helper()
	home := t.TempDir()
	t.Chdir(home)
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, home)
	}
	program, err := exec.LookPath("docsearch") // TestMain adds this program to PATH
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(program)) // without the agents of this machine
	cmd := exec.Command(program, "web", "--no-open")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &managedSite{t: t, client: &http.Client{Jar: jar, Transport: &http.Transport{}}, home: home}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		cmd.Wait() // the exit code is that of the signal
	})
	login, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("cannot read the address: ", err)
	}
	login = strings.TrimSpace(login)
	s.url, _, _ = strings.Cut(login, "/login?")
	s.read(s.client.Get(login))
	return s
}

func (s *managedSite) read(resp *http.Response, err error) string {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *managedSite) get(path string) string {
	s.t.Helper()
	return s.read(s.client.Get(s.url + path))
}

func (s *managedSite) post(path string, form url.Values) string {
	s.t.Helper()
	return s.read(s.client.PostForm(s.url+path, form))
}

// until waits until a page contains a text.
func (s *managedSite) until(path, text string) string {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		page := s.get(path)
		if strings.Contains(page, text) {
			return page
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("timeout: the page %s does not have %q:\n%s", path, text, page)
		}
	}
}

func (s *managedSite) mustHave(page string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			s.t.Errorf("the page does not have %q:\n%s", text, page)
		}
	}
}

func (s *managedSite) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// TestManagement adds, inspects, updates and removes a database, runs the doctor, and
// marks a decision of the hook as wrong: all through the page.
func TestManagement(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a running program cannot be removed there")
	}
	s := newManagedSite(t)
	s.mustHave(s.get("/databases"), "There are no databases.")
	s.mustHave(s.get("/settings"), "docsearch-config.json</code> does not exist.", "No problems.")

	s.write("docs/turning.md", "# Turning widgets\n\nTake the crank and pull it towards you, until the bell rings.\n")
	s.write("docs/oiling.md", "# Oiling widgets\n\nA drop of oil a year keeps the crank of a widget from squeaking.\n")
	s.write("docs/broken.pdf", "%PDF-1.4 not really")
	s.write(".claude/hooks/docsearch-config.json", `{"hook": {"log_queries": true}}`)
	source := filepath.Join(s.home, "docs")
	s.post("/databases/add", url.Values{"keyword": {"widget"}, "source": {source}})
	page := s.until("/databases", `ok · 2 passages`)
	s.until("/databases", `<span class="outcome">done</span>`)
	s.mustHave(page, ">widget</a>", `/databases/update">`)
	path := config.Join(config.Locate(os.Getenv).Data, "widget")
	details := "/databases/details?" + url.Values{"path": {path}}.Encode()
	s.mustHave(s.get(details), "folder "+source, "broken.pdf", "2 documents")

	s.write("docs/storing.md", "# Storing widgets\n\nKeep widgets in a dry place, away from the gadgets.\n")
	s.until(details, "stale")
	s.post("/databases/update", url.Values{"path": {path}})
	s.mustHave(s.until(details, "3 documents"), "1 new; 3 passages of 3 documents")

	s.hook("widget crank squeaking oil")
	s.hook("widget prices on the moon in 2031")
	page = s.until("/activity", "widget prices on the moon in 2031")
	s.mustHave(page, "widget crank squeaking oil", " · widget: ", "This was wrong")
	_, id, _ := strings.Cut(page, `<li id="e`)
	id, _, _ = strings.Cut(id, `"`)
	s.mustHave(s.post("/activity/mark", url.Values{"id": {id}, "wrong": {"1"}}), "Marked as wrong.", "docsearch eval --queries ")
	labels := filepath.Join(config.Locate(os.Getenv).State, "docsearch-labels.jsonl")
	out, err := exec.Command("docsearch", "eval", "--queries", labels).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "0 of 1") {
		t.Errorf("docsearch eval: %v\n%s", err, out)
	}

	s.post("/settings/check", nil)
	s.mustHave(s.until("/settings", " failed at "), "database widget: 3 passages of 3 documents", "Fix: <code>docsearch install")
	s.mustHave(s.get("/settings"), `name="log_queries" type="checkbox" value="1" checked`)

	s.mustHave(s.get("/databases/remove?"+url.Values{"path": {path}}.Encode()), "Remove widget?", "the entry of the database in the config")
	s.post("/databases/remove", url.Values{"path": {path}})
	s.until("/databases", "There are no databases.")
	s.mustHave(s.get(details), "Database not found; it may have been removed")
	if _, err := os.Stat(path); err == nil {
		t.Error("the folder of the removed database exists")
	}
	if _, err := os.Stat(filepath.Join(source, "turning.md")); err != nil {
		t.Error("the source of the removed database is gone: ", err)
	}
}

// hook runs the hook for a web search.
func (s *managedSite) hook(query string) {
	s.t.Helper()
	cmd := exec.Command("docsearch", "hook")
	cmd.Stdin = strings.NewReader(`{"hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_input": {"query": "` + query + `"}, "session_id": "s"}`)
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 2 { // 2: denied
		s.t.Fatalf("docsearch hook: %v\n%s", err, out)
	}
}
