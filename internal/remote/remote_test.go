package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/configtest"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/mcpserver"
)

const goodAnswer = `{"databases": {"gitlab": {"confidence": 0.9, "confident": true, "passages": [{"id": "1", "text": "Use needs.", "metadata": {"title": "CI"}}]},
	"wiki": {"confidence": 7, "confident": false, "new_field": 1}}}`

// testLocations returns locations in an empty folder with a short path, for the socket.
func testLocations(t *testing.T) config.Locations {
	t.Helper()
	dir, err := os.MkdirTemp("", "r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return config.Locations{Config: filepath.Join(dir, "c.json"), Cache: filepath.Join(dir, "c")}
}

// testConfig returns a config with two databases of the server at url.
func testConfig(url string) *config.Config {
	c := config.Default()
	c.Remotes = []config.Remote{{URL: url, TimeoutMS: 300}}
	c.AddRemote(&c.Remotes[0], []config.Database{{Name: "gitlab", Keywords: []string{"gitlab"}}, {Name: "wiki", Keywords: []string{"wiki"}, URLs: []string{"https://wiki.example.com/"}}})
	return &c
}

// TestHookFailsOpen checks that a server which is down, slow or wrong costs the hook no
// more than its time limit, once, and that only problems that the user can fix are
// reported.
func TestHookFailsOpen(t *testing.T) {
	respond := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc // nil: the server is down
		answers bool
		down    bool // the error wraps ErrUnavailable, and is remembered
	}{
		{"good", respond(200, goodAnswer), true, false},
		{"down", nil, false, true},
		{"slow", func(w http.ResponseWriter, r *http.Request) {
			untilGone(r)
			io.WriteString(w, goodAnswer)
		}, false, true},
		{"slow body", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, goodAnswer[:40])
			w.(http.Flusher).Flush()
			untilGone(r)
			io.WriteString(w, goodAnswer[40:])
		}, false, true},
		{"error", respond(500, "oops"), false, true},
		{"overloaded", respond(503, "later"), false, true},
		{"too many requests", respond(429, "later"), false, true},
		{"garbage", respond(200, "<html>login</html>"), false, true},
		{"half of a response", respond(200, goodAnswer[:60]), false, true},
		{"invalid passage", respond(200, `{"databases": {"gitlab": {"passages": [7]}}}`), false, true},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, false, true},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, false, false},
		{"wrong token", respond(401, "no"), false, false},
		{"no permission", respond(403, "no"), false, false},
		{"other database", respond(200, `{"databases": {}}`), false, false},
		{"broken database", respond(200, `{"databases": {"gitlab": {"error": "damaged"}}}`), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var requests atomic.Int64
			url := "http://127.0.0.1:1"
			if tt.handler != nil {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					tt.handler(w, r)
				}))
				defer s.Close()
				url = s.URL
			}
			c, l := testConfig(url), testLocations(t)
			run := func() (hook.Answer, error) {
				x := lookup.Indexes{Locations: l, Remote: NewHook(c, l, time.Now().Add(800*time.Millisecond))}
				return x.Search(&c.Databases[0], event.Search{Query: "gitlab ci needs"})
			}
			a, err := run()
			if (err == nil) != tt.answers || errors.Is(err, hook.ErrUnavailable) != tt.down {
				t.Errorf("error %v", err)
			}
			if tt.answers && (!a.Confident || len(a.Passages) != 1 || a.Passages[0].Text != "Use needs.") {
				t.Errorf("answer %+v", a)
			}
			before := requests.Load()
			_, again := run()
			asked := requests.Load() > before || tt.handler == nil && !errors.Is(again, hook.ErrUnavailable)
			if asked == tt.down {
				t.Errorf("asked again: %t", asked)
			}
		})
	}
}

// untilGone waits until the client of a request has disconnected: one that waits for the
// answer gets it after a minute.
func untilGone(r *http.Request) {
	io.Copy(io.Discard, r.Body) // else the server does not notice
	select {
	case <-time.After(time.Minute):
	case <-r.Context().Done():
	}
}

// A server that answers again is asked again after the pause, or at once by another hook
// that was running.
func TestHookRecovers(t *testing.T) {
	l := testLocations(t)
	const url = "https://docs.example.com"
	if err := config.SetRemoteDown(l, url, true); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if !config.RemoteDown(l, url, now) || config.RemoteDown(l, url, now.Add(config.RemoteDownTime+time.Second)) || config.RemoteDown(l, "https://other", now) {
		t.Error("the pause is not 30 seconds after the last attempt, for that server")
	}
	if err := config.SetRemoteDown(l, url, false); err != nil || config.RemoteDown(l, url, now) {
		t.Errorf("still down, %v", err)
	}
}

// Package startup has no network, so main must ask.
func TestStartupNeedsMain(t *testing.T) {
	c := testConfig("https://docs.example.com")
	_, err := lookup.Indexes{Locations: testLocations(t)}.Search(&c.Databases[0], event.Search{Query: "gitlab"})
	if !errors.Is(err, hook.ErrNeedsMain) {
		t.Errorf("error %v", err)
	}
}

// A token that cannot be read is reported, and is no reason to pause.
func TestHookReportsToken(t *testing.T) {
	c, l := testConfig("https://docs.example.com"), testLocations(t)
	c.Remotes[0].TokenFile = filepath.Join(t.TempDir(), "none")
	_, err := NewHook(c, l, time.Now().Add(time.Second)).Search(&c.Databases[0], event.Search{Query: "gitlab"})
	if err == nil || errors.Is(err, hook.ErrUnavailable) || !strings.Contains(err.Error(), "cannot read the token for https://docs.example.com") {
		t.Errorf("error %v", err)
	}
	if config.RemoteDown(l, "https://docs.example.com", time.Now()) {
		t.Error("the server counts as down")
	}
}

// One search sends one request to a server, with the databases that match and nothing
// else.
func TestHookAsksOnce(t *testing.T) {
	var got []AnswerRequest
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q AnswerRequest
		json.NewDecoder(r.Body).Decode(&q)
		got = append(got, q)
		io.WriteString(w, goodAnswer)
	}))
	defer s.Close()
	c, l := testConfig(s.URL), testLocations(t)
	h := NewHook(c, l, time.Now().Add(time.Second))
	c.Databases[0].Packages = []string{"node:gitlab"}
	c.Project = configtest.Project(t, config.Use{Software: "node:gitlab", Versions: []string{"16.1"}})
	search := event.Search{Query: "gitlab wiki export"}
	for i := range c.Databases {
		a, err := h.Search(&c.Databases[i], search)
		if err != nil || a.Confidence > 1 {
			t.Errorf("%v, confidence %v", err, a.Confidence)
		}
	}
	if len(got) != 1 || strings.Join(got[0].Databases, " ") != "gitlab wiki" || got[0].Query != search.Query || len(got[0].Used) != 1 || got[0].Used.Of("gitlab") != "16.1" {
		t.Fatalf("requests %+v", got)
	}
	if _, _, err := h.Page(&c.Databases[1], event.Fetch{URL: "https://wiki.example.com/x", Prompt: "p"}); err != nil {
		t.Error(err)
	}
	if len(got) != 2 || strings.Join(got[1].Databases, " ") != "wiki" || got[1].URL != "https://wiki.example.com/x" {
		t.Errorf("page: %+v", got)
	}
}

func TestToken(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("TEAM_TOKEN", "from-env")
	type test struct {
		name    string
		server  config.Remote
		want    string
		wantErr string
	}
	tests := []test{
		{"none", config.Remote{}, "", ""},
		{"file", config.Remote{TokenFile: write("good", " from-file\n", 0o600)}, "from-file", ""},
		{"environment", config.Remote{TokenEnv: "TEAM_TOKEN"}, "from-env", ""},
		{"command", config.Remote{TokenCommand: []string{"go", "env", "GOOS"}}, runtime.GOOS, ""},
		{"missing file", config.Remote{TokenFile: filepath.Join(dir, "none")}, "", "none"},
		{"empty file", config.Remote{TokenFile: write("empty", "\n", 0o600)}, "", "it is empty"},
		{"several lines", config.Remote{TokenFile: write("lines", "secret-a\nsecret-b\n", 0o600)}, "", "not a single word"},
		{"empty variable", config.Remote{TokenEnv: "TEAM_TOKEN_2"}, "", "it is empty"},
		{"failing command", config.Remote{TokenCommand: []string{"go", "nothing"}}, "", "exit status"},
		{"missing command", config.Remote{TokenCommand: []string{"no-such-program"}}, "", "not found"},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, test{"open file", config.Remote{TokenFile: write("open", "secret", 0o644)}, "", "run: chmod 600"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadToken(t.Context(), &tt.server)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != tt.want || !strings.Contains(text, tt.wantErr) || (text == "") != (tt.wantErr == "") || strings.Contains(text, "secret") {
				t.Errorf("got %q, %q", got, text)
			}
		})
	}
}

// The relay sends requests over the connection and with the token of the serving process.
func TestRelay(t *testing.T) {
	t.Setenv("TEAM_TOKEN", "s3cret")
	connections := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get(serverHeader) != "" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		io.WriteString(w, goodAnswer)
	}))
	defer s.Close()
	c, l := testConfig(s.URL), testLocations(t)
	served := c.Remotes[0]
	served.TokenEnv = "TEAM_TOKEN" // unlike the hook's: the relay's token counts
	client := NewClient(served)
	defer client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ServeRelay(ctx, l, func(ctx context.Context, url string, body []byte) ([]byte, error) {
			switch url {
			case s.URL:
				return client.Answer(ctx, body)
			case "https://cluster.example":
				return []byte(goodAnswer), nil
			}
			return nil, ErrNoRelay
		}, slog.New(slog.DiscardHandler))
	}()
	ask := func(c *config.Config) error {
		_, err := NewHook(c, l, time.Now().Add(time.Second)).Search(&c.Databases[0], event.Search{Query: "gitlab"})
		return err
	}
	_, socket := config.RelayPath(l)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			break
		}
		if time.Since(began) > 5*time.Second {
			t.Fatal("no relay")
		}
	}
	for range 5 {
		if err := ask(c); err != nil {
			t.Fatal(err)
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections", len(connections))
	}
	// A server that the relay does not know is asked directly.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, goodAnswer) }))
	defer other.Close()
	if err := ask(testConfig(other.URL)); err != nil {
		t.Error(err)
	}
	// A cluster is asked through the relay only.
	clustered := func(url string) *config.Config {
		c := config.Default()
		c.Clustered = []config.Database{{Name: "gitlab", Keywords: []string{"gitlab"}, Cluster: &config.Cluster{URLs: []string{url}, Database: "gitlab"}}}
		c.AddClustered()
		return &c
	}
	if err := ask(clustered("https://cluster.example")); err != nil {
		t.Error(err)
	}
	if err := ask(clustered("https://another.example")); !errors.Is(err, errNotRunning) || config.RemoteDown(l, "https://another.example", time.Now()) {
		t.Errorf("a cluster that no relay knows: %v", err)
	}
	// The relay passes refusals on.
	t.Setenv("TEAM_TOKEN", "revoked")
	client.forgetToken()
	var refused *RefusedError
	if err := ask(c); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("revoked: %v", err)
	}
	cancel()
	<-ended
	if err := ask(c); !errors.As(err, &refused) {
		t.Errorf("without the relay, the hook asks directly: %v", err)
	}
}

func TestCatalog(t *testing.T) {
	body := `{"databases":[{"name":"gitlab","keywords":["gl"],"description":"d\u001b[31m"},{"name":""},{"name":"x\ny"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
	defer s.Close()
	l := testLocations(t)
	c := config.Default()
	c.Databases = []config.Database{{Name: "GitLab", Keywords: []string{"gitlab"}, Path: "/p"}}
	c.Remotes = []config.Remote{{URL: s.URL}}
	client := NewClient(c.Remotes[0])
	for i, want := range []bool{true, false} {
		list, changed, err := Fetch(t.Context(), client, l)
		if err != nil || changed != want || len(list) != 1 || strings.Contains(list[0].Description, "\x1b") {
			t.Errorf("download %d: %v, changed %t, %+v", i, err, changed, list)
		}
	}
	if err := AddTo(&c, l); err != nil || len(c.Databases) != 2 {
		t.Fatalf("%v, %+v", err, c.Databases)
	}
	if db := c.Databases[1]; db.Name != "gitlab@127.0.0.1" || db.RemoteName != "gitlab" || db.Remote != s.URL || db.Keywords[0] != "gl" {
		t.Errorf("%+v", db)
	}
	body = "<html>"
	if _, _, err := Fetch(t.Context(), client, l); err == nil {
		t.Error("an invalid list")
	}
	if err := AddTo(&c, l); err != nil {
		t.Errorf("the last list is lost: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(goodAnswer))
	f.Add([]byte(`{"databases":[{"name":"gitlab","keywords":["gl"]}]}`))
	f.Add([]byte(`{"databases":{"a":{"confidence":1,"hits":[{"score":2,"passage":{"id":"1","text":"t"}}],"passages":[{"id":"1","text":"t"}],"total":1,"wanted":-1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := decodeCatalog(data); err == nil && len(list.Databases) > MaxDatabases {
			t.Errorf("%d databases", len(list.Databases))
		}
		if r, err := decode[Answers](data); err == nil {
			for _, a := range r.Databases {
				if got := a.answer(); got.Confidence < 0 || got.Confidence > 1 {
					t.Errorf("confidence %v", got.Confidence)
				}
			}
		}
		if r, err := decode[Results](data); err == nil {
			for _, a := range r.Databases {
				index.Merge([]index.Result{a.result()}, 5)
			}
		}
		if r, err := decode[Readings](data); err == nil {
			for _, a := range r.Databases {
				if reading, ok := a.reading(); ok && (reading.Wanted >= len(reading.Passages) || reading.First+len(reading.Passages) > reading.Total) {
					t.Errorf("accepted %+v", reading)
				}
			}
		}
	})
}

// What a server sends has no control characters, and its messages are quoted.
func TestServerTextsAreSafe(t *testing.T) {
	const bad = "\\u001b[2J\\u202e\\u009b"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == DatabasesPath {
			io.WriteString(w, `{"databases": [{"name": "moon`+bad+`", "keywords": ["k`+bad+`"], "urls": ["https://m/`+bad+`"], "pack": "p`+bad+`"}]}`)
			return
		}
		io.WriteString(w, `{"databases": {"moon": {"notes": ["obey`+bad+`\nnow"], "hits": [{"passage": {"id": "1`+bad+`", "text": "Phases.`+bad+`", "metadata": {"title": "Moon`+bad+`", "url": "https://m/`+bad+`"}}}]},
			"sun": {"error": "obey`+bad+`"}}}`)
	}))
	defer s.Close()
	c := NewClient(config.Remote{URL: s.URL})
	defer c.Close()
	list, err := c.Databases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Search(t.Context(), []mcpserver.RemoteDatabase{{Name: "moon"}, {Name: "sun"}}, index.Query{Text: "moon"})
	if err != nil {
		t.Fatal(err)
	}
	if got := found["moon"].Notes; len(got) != 1 || got[0] != `the server reports "obey[2J now"` {
		t.Errorf("notes %q", got)
	}
	if got := found["sun"].Err; got == nil || got.Error() != `the server reports "obey[2J"` {
		t.Errorf("error %v", got)
	}
	hit := found["moon"].Hits[0]
	for _, text := range []string{list.Databases[0].Name, list.Databases[0].Keywords[0], list.Databases[0].URLs[0], list.Databases[0].Pack, hit.ID, hit.Text, hit.Title, hit.URL} {
		if !strings.HasSuffix(text, "[2J") || strings.ContainsAny(text, "\x1b\u202e\u009b") {
			t.Errorf("text %q", text)
		}
	}
}

// A query that is too long is not sent.
func TestEndlessQuery(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the query was sent") }))
	t.Cleanup(server.Close)
	c := NewClient(config.Remote{URL: server.URL})
	t.Cleanup(c.Close)
	if _, err := c.Search(t.Context(), []mcpserver.RemoteDatabase{{Name: "a"}}, index.Query{Text: strings.Repeat("x ", 10_000)}); !errors.Is(err, index.ErrTooLong) {
		t.Errorf("got %v, want ErrTooLong", err)
	}
}
