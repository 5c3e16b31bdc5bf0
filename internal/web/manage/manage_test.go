package manage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/eventlog/eventlogtest"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/web"
	"github.com/docsearch/docsearch/internal/web/job"
)

// TestMain makes the test binary the program of the jobs, which prints its arguments and
// ends when the file in the environment exists.
func TestMain(m *testing.M) {
	end := os.Getenv("DOCSEARCH_TEST_END")
	if end == "" {
		os.Exit(m.Run())
	}
	fmt.Println(strings.Join(os.Args[1:], " "))
	fmt.Println(`{"stage":"indexing <b>","done":1,"total":4}`)
	fmt.Println(`{"status":"failed","check":"hook","text":"<i>no hook</i>","fix":"docsearch install"}`)
	for range 3000 {
		if _, err := os.Stat(end); err == nil {
			os.Exit(1)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A testMachine has data of the given databases.
type testMachine struct {
	config    config.Config
	databases []Database
	skipped   []Skipped
	set       []string // changed settings
	err       error
}

func (m *testMachine) Config() (config.Config, error)                { return m.config, nil }
func (m *testMachine) Databases(context.Context) ([]Database, error) { return m.databases, m.err }
func (m *testMachine) Skipped(*Database) ([]Skipped, error)          { return m.skipped, nil }
func (m *testMachine) SetDatabase(d *Database, mode config.Mode, keywords []string) error {
	m.set = append(m.set, fmt.Sprintf("%s %s %q", d.Name, mode, keywords))
	return m.err
}

func (m *testMachine) SetLogQueries(on bool) error {
	m.set = append(m.set, fmt.Sprint("log_queries ", on))
	return m.err
}

func (m *testMachine) Settings() (*Settings, error) {
	return &Settings{File: "/c.json", Exists: true, Folders: []Folder{{"State", "/<script>"}}, Problems: []string{"line 4: <b>"}}, nil
}

// A site is a server with the pages, and a client with a session.
type site struct {
	t      *testing.T
	client *http.Client
	url    string
	base   string
	pages  *Pages
	end    string // file that ends the jobs
}

func newSite(t *testing.T, m *testMachine, log eventlog.Log) *site {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := web.New(l, web.Options{Catalog: &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, url: server.URL(), base: server.Base(), end: filepath.Join(t.TempDir(), "end")}
	s.pages, err = New(server, Options{Machine: m, State: log.Dir, Program: program, Env: append(os.Environ(), "DOCSEARCH_TEST_END="+s.end)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		s.pages.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(s.client.CloseIdleConnections)
	if status, page := s.read(s.client.Get(server.LoginURL())); status != http.StatusOK {
		t.Fatalf("cannot sign in: %d %s", status, page)
	}
	return s
}

// get returns a page with its status.
func (s *site) get(path string) (status int, page string) {
	s.t.Helper()
	return s.read(s.client.Get(s.url + path))
}

func (s *site) post(path string, form url.Values) (status int, page string) {
	s.t.Helper()
	return s.read(s.client.PostForm(s.url+path, form))
}

func (s *site) read(resp *http.Response, err error) (int, string) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.checkPage(string(data))
	return resp.StatusCode, strings.ReplaceAll(string(data), s.base, "") // the links are those of path
}

// checkPage checks that a page has nothing that the content security policy forbids, no
// duplicate ID, and no text of others as markup.
func (s *site) checkPage(page string) {
	s.t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		s.t.Fatal(err)
	}
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && n.FirstChild != nil {
			s.t.Error("the page has an inline script")
		}
		switch n.Data {
		case "style", "iframe", "img", "i":
			s.t.Errorf("the page has the element %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", strings.Contains(a.Val, "javascript:"):
				s.t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "id" && ids[a.Val]:
				s.t.Errorf("two elements have the ID %s", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			}
		}
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "NaN") {
		s.t.Error("the page has ZgotmplZ or NaN")
	}
}

func mustHave(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %s\n%s", text, page)
		}
	}
}

var testDatabases = []Database{
	{Name: "gitlab", Path: "/data/gitlab", Configured: true, State: "ok", IsOK: true, Generation: "g000002", Source: "folder /src", Version: "17.2",
		Passages: 12345, Documents: 67, Bytes: 8e6, TextBytes: 9e6, Built: time.Now(), Updatable: true, Removable: true, Keywords: []string{"gitlab", "<ci>"}},
	{Name: `<i onclick="x()">`, Path: `/data/"x&y`, State: "stale", Why: "changed <b>", Generation: "g1", Removable: true},
	{Name: "gone", Path: "/data/gone", State: "missing", Why: "no such folder"},
}

// The page shows the last decisions in words, and the home the first of them.
func TestActivityPage(t *testing.T) {
	s := newSite(t, &testMachine{config: config.Default(), databases: testDatabases}, eventlogtest.Week(t))
	status, page := s.get("/activity")
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	mustHave(t, page, "denied and used", "ran: no database matches", "streams in Redis", "&lt;script&gt;alert(1)&lt;/script&gt;", "These are the latest 100.", "This was wrong")
	_, home := s.get("/")
	mustHave(t, home, "Last decisions", `<a href="/activity">All decisions</a>`)
	if n := strings.Count(home, `<li id="e`); n != homeDecisions || strings.Contains(home, "This was wrong") {
		t.Errorf("the home has %d decisions, want %d without buttons", n, homeDecisions)
	}
}

// A decision can be marked as wrong, and unmarked.
func TestMarkAsWrong(t *testing.T) {
	log := eventlogtest.Week(t)
	s := newSite(t, &testMachine{config: config.Default()}, log)
	summary, err := activity.Read(log, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var weather *activity.Entry
	for _, e := range summary.Recent {
		if e.Query == "weather" {
			weather = e
		}
	}
	form := url.Values{"id": {weather.ID()}, "wrong": {"1"}}
	status, page := s.post("/activity/mark", form)
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	mustHave(t, page, "Marked as wrong.", "1 decision marked as wrong", "docsearch eval --queries "+(activity.Labels{Dir: log.Dir}).Path())
	form.Set("wrong", "0")
	if _, page = s.post("/activity/mark", form); strings.Contains(page, "Marked as wrong.") {
		t.Error("the decision is still marked")
	}
	if status, page = s.post("/activity/mark", url.Values{"id": {"1-2"}, "wrong": {"1"}}); status != http.StatusNotFound || !strings.Contains(page, "no longer in the event log") {
		t.Errorf("an unknown event: status %d\n%s", status, page)
	}
}

func TestDatabasesPages(t *testing.T) {
	m := &testMachine{config: config.Default(), databases: testDatabases, skipped: []Skipped{{"a<b>.bin", "not text"}}}
	s := newSite(t, m, eventlogtest.Week(t))
	_, page := s.get("/databases")
	mustHave(t, page, `<a href="/databases/details?path=%2fdata%2fgitlab">gitlab</a>`, "12,345", "8.0 MB", "17.2", "changed &lt;b&gt;", "no such folder",
		"No jobs have run.", "docsearch setup --project")
	if n := strings.Count(page, `action="/databases/update"`); n != 1 {
		t.Errorf("%d databases can be updated, want 1", n)
	}
	_, page = s.get("/databases/details?path=/data/gitlab")
	mustHave(t, page, "a&lt;b&gt;.bin", "not text", `<a href="/browse?db=gitlab">`, `value="gitlab, &lt;ci&gt;"`, `<option value="" selected>`)
	_, page = s.get("/databases/remove?path=/data/gitlab")
	mustHave(t, page, "Remove gitlab?", `<form method="post" action="/databases/remove">`)
	for _, path := range []string{"/databases/details", "/databases/remove"} {
		if status, page := s.get(path + "?path=/etc"); status != http.StatusNotFound || !strings.Contains(page, "Database not found; it may have been removed") {
			t.Errorf("%s of another folder: status %d\n%s", path, status, page)
		}
	}
	if status, _ := s.post("/databases/remove", url.Values{"path": {"/etc"}}); status != http.StatusNotFound {
		t.Errorf("the removal of another folder: status %d", status)
	}
	m.err = errors.New("cannot read <config>")
	s.pages.databases.forget()
	if status, page := s.get("/databases"); status != http.StatusInternalServerError || !strings.Contains(page, "Cannot read &lt;config&gt;") {
		t.Errorf("with a broken config: status %d\n%s", status, page)
	}
}

// The mode and the keywords of a database of the config can be changed, and whether the log
// keeps queries.
func TestChangeSettings(t *testing.T) {
	m := &testMachine{config: config.Default(), databases: testDatabases}
	s := newSite(t, m, eventlogtest.Week(t))
	for _, test := range []struct {
		path, mode, keywords string
		want                 int
	}{
		{"/data/gitlab", "advise", "  merge   request ,,ci", 200},
		{"/data/gitlab", "", "ci", 200},
		{"/data/gitlab", "", " , ", 400},
		{"/data/gitlab", "always", "x", 400},
		{"/data/gone", "off", "x", 400},
		{"/etc", "off", "x", 404},
	} {
		form := url.Values{"path": {test.path}, "mode": {test.mode}, "keywords": {test.keywords}}
		if status, page := s.post("/databases/settings", form); status != test.want {
			t.Errorf("%v: status %d, want %d\n%s", form, status, test.want, page)
		}
	}
	for _, on := range []string{"1", ""} {
		if status, page := s.post("/settings/log", url.Values{"log_queries": {on}}); status != 200 {
			t.Errorf("log_queries %q: status %d\n%s", on, status, page)
		}
	}
	want := []string{`gitlab advise ["merge request" "ci"]`, `gitlab  ["ci"]`, "log_queries true", "log_queries false"}
	if diff := cmp.Diff(want, m.set); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	m.err = errors.New("the file is <b>")
	if status, page := s.post("/settings/log", nil); status != 500 || !strings.Contains(page, "The file is &lt;b&gt;") {
		t.Errorf("a file that cannot be changed: status %d\n%s", status, page)
	}
}

// Without the session, nothing is shown or changed.
func TestSession(t *testing.T) {
	s := newSite(t, &testMachine{config: config.Default(), databases: testDatabases}, eventlogtest.Week(t))
	stranger := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(stranger.CloseIdleConnections)
	for _, path := range []string{"/activity", "/databases", "/databases/details?path=/data/gitlab", "/settings"} {
		if status, _ := s.read(stranger.Get(s.url + path)); status != http.StatusUnauthorized {
			t.Errorf("%s without a session: status %d", path, status)
		}
	}
	for _, path := range []string{"/databases/remove", "/databases/add", "/databases/settings", "/settings/check", "/settings/log", "/activity/mark", "/jobs/cancel"} {
		if status, _ := s.read(stranger.PostForm(s.url+path, url.Values{"path": {"/data/gitlab"}})); status != http.StatusUnauthorized {
			t.Errorf("%s without a session: status %d", path, status)
		}
		if status, _ := s.get(path); path != "/databases/remove" && status != http.StatusNotFound {
			t.Errorf("GET %s: status %d", path, status)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, strings.NewReader("path=/data/gitlab"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://attacker.example")
		if status, _ := s.read(s.client.Do(r)); status != http.StatusForbidden {
			t.Errorf("%s from another origin: status %d", path, status)
		}
	}
	if n := len(s.pages.jobs.Jobs()); n != 0 {
		t.Errorf("%d jobs have run", n)
	}
}

// The page shows the progress of jobs and their end.
func TestJobs(t *testing.T) {
	s := newSite(t, &testMachine{config: config.Default(), databases: testDatabases}, eventlogtest.Week(t))
	if status, page := s.post("/databases/update", url.Values{"path": {"/data/gitlab"}}); status != http.StatusOK || !strings.Contains(page, "update gitlab") {
		t.Fatalf("status %d\n%s", status, page)
	}
	mustHave(t, s.until("indexing &lt;b&gt;: 25%"), "data-running")
	if status, page := s.post("/databases/build", url.Values{"path": {"/data/gitlab"}}); status != http.StatusConflict || !strings.Contains(page, "wait until it ends") {
		t.Errorf("a second job: status %d\n%s", status, page)
	}
	if status, _ := s.post("/databases/add", url.Values{"recipe": {"django"}, "source": {"x"}}); status != http.StatusBadRequest {
		t.Errorf("a recipe and a source: status %d", status)
	}
	if status, page := s.post("/databases/add", url.Values{"keyword": {"--help"}, "source": {"/src"}}); status != http.StatusOK {
		t.Errorf("status %d\n%s", status, page)
	}
	s.until("setup --yes --no-install -- --help /src")
	if status, page := s.post("/settings/check", nil); status != http.StatusConflict || !strings.Contains(page, "2 jobs are running") {
		t.Errorf("a third job: status %d\n%s", status, page)
	}
	if err := os.WriteFile(s.end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for page := s.until("The command failed: exit status 1."); strings.Contains(page, "data-running"); {
		page = s.until("The command failed: exit status 1.")
	}
	if j := s.pages.jobs.Jobs()[1]; j.State != job.Failed || strings.Join(j.Lines[:1], "") != "update -- /data/gitlab" {
		t.Errorf("job %+v", j)
	}
}

// until gets the page of the databases until it contains a text.
func (s *site) until(text string) (page string) {
	s.t.Helper()
	for range 3000 {
		if _, page = s.get("/databases"); strings.Contains(page, text) {
			return page
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("the page does not have %q:\n%s", text, page)
	return ""
}

func TestSettingsPage(t *testing.T) {
	s := newSite(t, &testMachine{config: config.Default()}, eventlog.Log{Dir: t.TempDir()})
	if err := os.WriteFile(s.end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, page := s.get("/settings")
	mustHave(t, page, "/c.json", "/&lt;script&gt;", "line 4: &lt;b&gt;", "Check the installation")
	if status, _ := s.post("/settings/check", nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	for range 3000 {
		if _, page = s.get("/settings"); strings.Contains(page, "1 check failed") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	mustHave(t, page, "1 check failed", "hook: &lt;i&gt;no hook&lt;/i&gt;", "Fix: <code>docsearch install</code>", "doctor --json")
}

// Without a log, without a config and without databases, the pages say so.
func TestEmptyPages(t *testing.T) {
	c := config.Default()
	c.Hook.Log, c.Hook.LogQueries = false, false
	s := newSite(t, &testMachine{config: c}, eventlog.Log{Dir: filepath.Join(t.TempDir(), "none")})
	_, page := s.get("/activity")
	mustHave(t, page, "The event log is off", "None yet.")
	_, page = s.get("/databases")
	mustHave(t, page, "There are no databases.")
}
