package clustersearch

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/test/clustertest"
)

// record writes the answers of a real node to testdata/recorded.json:
//
//	DOCSEARCH_WEAVIATE=weaviate-server go test ./internal/cluster/clustersearch -run TestRecorded -record
var record = flag.Bool("record", false, "record the answers of a real node")

const recordedFile = "testdata/recorded.json"

// An exchange is a request to the node with its answer.
type exchange struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   string          `json:"body,omitempty"`
	Answer json.RawMessage `json:"answer"`
}

// The questions of the tests. The database answers the first one.
const (
	certificate = "how do I rotate the signing certificate of the registry with moonctl"
	pizza       = "best pizza in naples"
	pageURL     = "https://docs.example.org/moonctl/certificates.html"
)

// newLocal builds the database that is pushed to the recorded node.
func newLocal(t *testing.T) *index.Database {
	t.Helper()
	dir := t.TempDir()
	indextest.Build(t, dir, index.BuildOptions{},
		passage.Passage{ID: "p0", Title: "Signing certificates", URL: pageURL + "#rotate", Headings: []string{"Signing certificates", "Rotate"}, Text: "To rotate the signing certificate of the registry, run moonctl rotate --signing-certificate."},
		passage.Passage{ID: "p1", Title: "Signing certificates", URL: pageURL + "#expire", Headings: []string{"Signing certificates", "Expiry"}, Text: "A signing certificate expires after 90 days. The registry then refuses new images."},
		passage.Passage{ID: "p2", Title: "Phases", URL: "https://docs.example.org/moonctl/phases.html", Headings: []string{"Phases"}, Text: "moonctl phases prints the eight phases of the moon, the current one first."},
		passage.Passage{ID: "p3", Title: "Tides", URL: "https://docs.example.org/moonctl/tides.html", Headings: []string{"Tides"}, Text: "The tides follow the moon. moonctl tides prints a table for a harbor."},
		passage.Passage{ID: "p4", Title: "Install", URL: "https://docs.example.org/moonctl/install.html", Headings: []string{"Install"}, Text: "Copy the program moonctl to a folder in PATH. No other files are needed."},
		passage.Passage{ID: "p5", Title: "Configuration", URL: "https://docs.example.org/moonctl/config.html", Headings: []string{"Configuration"}, Text: "The file moonctl.toml has the harbor and the language. Unknown keys are errors."})
	db, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// newDatabase returns the recorded database in a cluster with these nodes.
func newDatabase(t *testing.T, urls ...string) *Database {
	d := New(config.Database{Name: "moon", Keywords: []string{"moonctl"}, URLs: []string{"https://docs.example.org/moonctl/"},
		Cluster: &config.Cluster{URLs: urls, Database: "moon"}}, t.TempDir())
	t.Cleanup(d.Close)
	return d
}

// startRecording pushes the database to a real node and returns the URL of a proxy that
// records its answers at the end of the test.
func startRecording(t *testing.T) string {
	c := clustertest.Start(t, 1, clustertest.Options{})
	client, err := cluster.NewClient(cluster.Options{URLs: c.URLs()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Push(t.Context(), cluster.FromDatabase(newLocal(t)), cluster.PushOptions{Name: "moon"}); err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(c.Nodes[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var mu sync.Mutex
	var all []exchange
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		mu.Lock()
		defer mu.Unlock()
		if answer.Code == http.StatusOK {
			all = append(all, exchange{r.Method, r.URL.RequestURI(), string(body), bytes.Clone(answer.Body.Bytes())})
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(func() {
		s.Close()
		data, err := json.MarshalIndent(all, "", " ")
		if err == nil {
			err = os.WriteFile(recordedFile, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return s.URL
}

// recorded returns a handler that answers as the recorded node.
func recorded(t *testing.T) http.HandlerFunc {
	t.Helper()
	data, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for i := range all { // the file is indented
		var compact bytes.Buffer
		if err := json.Compact(&compact, all[i].Answer); err != nil {
			t.Fatal(err)
		}
		all[i].Answer = compact.Bytes()
	}
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client asks another node
		}
		// After a failure of a quorum, one node is asked.
		anyLevel := strings.NewReplacer("=ONE", "", "=QUORUM", "").Replace
		at := slices.IndexFunc(all, func(e exchange) bool {
			return e.Method == r.Method && anyLevel(e.Path) == anyLevel(r.URL.RequestURI()) && e.Body == string(body)
		})
		if at < 0 {
			http.Error(w, "not recorded", http.StatusNotImplemented)
			t.Errorf("not recorded: %s %s %s", r.Method, r.URL, body)
			return
		}
		w.Write(all[at].Answer)
	}
}

func start(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func answer(t *testing.T, d *Database, q remote.AnswerRequest) remote.Answer {
	t.Helper()
	return d.Answer(t.Context(), "moon", &q)
}

// TestRecorded searches, reads and answers as with the real node.
func TestRecorded(t *testing.T) {
	node := ""
	if *record {
		node = startRecording(t)
	} else {
		node = start(t, recorded(t))
	}
	d := newDatabase(t, node)
	found, err := d.Search(t.Context(), []mcpserver.RemoteDatabase{{Name: "moon"}}, index.Query{Text: certificate})
	if err != nil || found["moon"].Err != nil {
		t.Fatal(err, found["moon"].Err)
	}
	r := found["moon"].Result
	if len(r.Hits) == 0 || r.Hits[0].ID != "p0" || !r.Confident {
		t.Errorf("confidence %.2f, hits %+v", r.Confidence, r.Hits)
	}
	why, err := d.Explain(t.Context(), r)
	if err != nil || len(why.Hits) != len(r.Hits) || why.Probability != r.Confidence || len(why.Hits[0].Parts) == 0 || why.Hits[0].Parts[0].Adds <= 0 {
		t.Errorf("explanation %+v, %v", why, err)
	}
	filtered, err := d.Search(t.Context(), []mcpserver.RemoteDatabase{{Name: "moon"}}, index.Query{Text: certificate, Filter: "!*certificates*"})
	if err != nil || filtered["moon"].Err != nil || slices.ContainsFunc(filtered["moon"].Hits, func(h index.Hit) bool { return h.ID < "p2" }) {
		t.Errorf("filtered: %+v, %v", filtered, err)
	}
	if passages, documents, err := d.Size(t.Context()); err != nil || passages != 6 || documents != 5 {
		t.Errorf("%d passages of %d documents, %v", passages, documents, err)
	}
	if a := answer(t, d, remote.AnswerRequest{Query: certificate}); !a.Confident || len(a.Passages) == 0 || a.Passages[0].ID != "p0" {
		t.Errorf("answer %+v", a)
	}
	if a := answer(t, d, remote.AnswerRequest{Query: pizza}); a.Confident || len(a.Passages) > 0 || a.Error != "" {
		t.Errorf("answer to a search for the web: %+v", a)
	}
	if a := answer(t, d, remote.AnswerRequest{URL: pageURL}); !a.Held || !a.Whole || len(a.Passages) != 2 {
		t.Errorf("page %+v", a)
	}
	if a := answer(t, d, remote.AnswerRequest{URL: "https://docs.example.org/moonctl/absent.html"}); a.Held || a.Error != "" {
		t.Errorf("absent page %+v", a)
	}
	read, err := d.Read(t.Context(), []string{"moon"}, index.Ref{Name: "p1", Neighbors: 1})
	if err != nil || read["moon"].Err != nil || read["moon"].Total != 2 || read["moon"].Wanted != 1 {
		t.Errorf("read %+v, %v", read, err)
	}
}

// TestFaults checks that a node that answers wrongly causes an error or no answer, and does
// not matter if another node is good.
func TestFaults(t *testing.T) {
	if *record {
		t.Skip("recording")
	}
	replace := func(old, new string) func(http.ResponseWriter, []byte) {
		return func(w http.ResponseWriter, good []byte) { w.Write(bytes.ReplaceAll(good, []byte(old), []byte(new))) }
	}
	text := func(text string) func(http.ResponseWriter, []byte) {
		return func(w http.ResponseWriter, _ []byte) { io.WriteString(w, text) }
	}
	for name, fault := range map[string]func(w http.ResponseWriter, good []byte){
		"status 500": func(w http.ResponseWriter, _ []byte) { http.Error(w, "broken", 500) },
		"status 404": func(w http.ResponseWriter, _ []byte) { http.Error(w, "", 404) },
		"garbage":    text("<html>\x00\xff"),
		"empty":      text(""),
		"null":       text("null"),
		"no data":    text(`{"data": {"Get": {}}}`),
		"error":      text(`{"data": {"Get": {"DocsearchPassages1": null}}, "errors": [{"message": "tenant not found"}]}`),
		"truncated":  func(w http.ResponseWriter, good []byte) { w.Write(good[:len(good)/2]) },
		"cut off": func(w http.ResponseWriter, good []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			w.Write(good[:len(good)/2])
		},
		"negative place":   replace(`"place":`, `"place":-`),
		"text for numbers": replace(`"slot":`, `"slot":"x`),
		"invalid base64":   replace(`"record":"`, `"record":"!`),
	} {
		t.Run(name, func(t *testing.T) {
			good := recorded(t)
			bad := start(t, func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				candidates := wantsPassages(t, r)
				good(answer, r)
				if !candidates {
					w.Write(answer.Body.Bytes()) // the database can be opened
					return
				}
				fault(w, answer.Body.Bytes())
			})
			if a := answer(t, newDatabase(t, bad), remote.AnswerRequest{Query: certificate}); a.Error == "" || a.Confident || len(a.Passages) > 0 {
				t.Errorf("answer of the node alone: %+v", a)
			}
			both := newDatabase(t, bad, start(t, good))
			for range 3 { // each node is asked first at least once
				if a := answer(t, both, remote.AnswerRequest{Query: certificate}); !a.Confident || len(a.Passages) == 0 || a.Passages[0].ID != "p0" {
					t.Errorf("answer with a good node: %+v", a)
				}
			}
		})
	}
}

// wantsPassages reports whether a request is a search for passages.
func wantsPassages(t *testing.T, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte("DocsearchPassages1"))
}

// TestWrongState checks that a database with impossible counts or other statistics is not
// opened, unless another node has the right ones.
func TestWrongState(t *testing.T) {
	if *record {
		t.Skip("recording")
	}
	for name, replace := range map[string][2]string{
		"more passages than slots": {`\"count\":6`, `\"count\":7`},
		"negative count":           {`\"count\":6`, `\"count\":-6`},
		"another format":           {`\"format\":1`, `\"format\":2`},
		"tenant with a slash":      {`\"tenant\":\"`, `\"tenant\":\"../`},
		"another database":         {`"name":"moon"`, `"name":"mood"`},
		"changed statistics":       {`"data":"`, `"data":"AAAA`},
	} {
		t.Run(name, func(t *testing.T) {
			good := recorded(t)
			changed := false
			bad := start(t, func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				good(answer, r)
				data := bytes.ReplaceAll(answer.Body.Bytes(), []byte(replace[0]), []byte(replace[1]))
				changed = changed || !bytes.Equal(data, answer.Body.Bytes())
				w.Write(data)
			})
			a := answer(t, newDatabase(t, bad), remote.AnswerRequest{Query: certificate})
			if !changed {
				t.Fatalf("%s is not in the recorded answers", replace[0])
			}
			if a.Error == "" || a.Confident {
				t.Errorf("answer of the node alone: %+v", a)
			}
			if a := answer(t, newDatabase(t, bad, start(t, good)), remote.AnswerRequest{Query: certificate}); !a.Confident {
				t.Errorf("answer with a good node: %+v", a)
			}
		})
	}
}

// TestInvisible checks that objects of another state are no candidates.
func TestInvisible(t *testing.T) {
	if *record {
		t.Skip("recording")
	}
	good := recorded(t)
	asked := 0
	node := start(t, func(w http.ResponseWriter, r *http.Request) {
		if wantsPassages(t, r) {
			asked++
			io.WriteString(w, `{"data": {"Get": {"DocsearchPassages1": [{"passage": "p9", "document": "d", "place": 0, "slot": 6, "line": "{}", "record": ""}]}}}`)
			return
		}
		good(w, r)
	})
	if a := answer(t, newDatabase(t, node), remote.AnswerRequest{Query: certificate}); a.Confident || a.Error != "" {
		t.Errorf("answer %+v", a)
	}
	if asked < 2 || asked > 10 {
		t.Errorf("asked %d times for other candidates", asked)
	}
}

// TestHangingNode checks that a hook is answered in time if a node accepts
// connections and never answers, also if the database is not open yet.
func TestHangingNode(t *testing.T) {
	if *record {
		t.Skip("recording")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections by its backlog
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hung := "http://" + l.Addr().String()
	good := start(t, recorded(t))
	d := newDatabase(t, hung, good, good)
	var times []time.Duration
	answered := 0
	const runs = 40
	for range runs {
		began := time.Now()
		if answer(t, d, remote.AnswerRequest{Query: certificate}).Confident {
			answered++
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	t.Logf("%d of %d answered, p50 %v, slowest %v", answered, runs, times[runs/2].Round(time.Microsecond), times[runs-1].Round(time.Millisecond))
	if answered < runs-2 { // a slow machine
		t.Errorf("%d of %d answered", answered, runs)
	}

	// Without another node, the answer is an error.
	alone := newDatabase(t, hung)
	if a := answer(t, alone, remote.AnswerRequest{Query: certificate}); a.Error == "" {
		t.Errorf("%+v", a)
	}
}

func TestAnswerAll(t *testing.T) {
	if *record {
		t.Skip("recording")
	}
	good := newDatabase(t, start(t, recorded(t)))
	bad := newDatabase(t, start(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", 500) }))
	databases := map[string]*Database{"moon": good, "sun": bad}
	find := func(name string) *Database { return databases[name] }
	ask := func(names ...string) (remote.Answers, error) {
		return AnswerAll(t.Context(), &remote.AnswerRequest{Databases: names, Query: certificate}, find)
	}
	both, err := ask("moon", "sun", "absent")
	if err != nil || len(both.Databases) != 2 || !both.Databases["moon"].Confident || !strings.Contains(both.Databases["sun"].Error, "status 500") {
		t.Errorf("answers %+v, %v", both, err)
	}
	if _, err := ask("sun"); err == nil || !strings.Contains(err.Error(), "status 500") {
		t.Errorf("without a good database: %v", err)
	}
	if none, err := ask("absent"); err != nil || len(none.Databases) > 0 {
		t.Errorf("answers %+v, %v", none, err)
	}
	if _, err := AnswerAll(t.Context(), &remote.AnswerRequest{Databases: []string{"a"}, Query: strings.Repeat("x ", 10_000)}, find); err == nil {
		t.Error("an endless query was sent to the cluster")
	}
	if _, err := AnswerAll(t.Context(), &remote.AnswerRequest{Databases: make([]string, remote.MaxDatabases+1), Query: "x"}, find); err == nil {
		t.Error("too many databases are accepted")
	}
}
