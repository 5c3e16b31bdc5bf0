package provider

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/embed"
)

// A server simulates Ollama and OpenAI's API, and their errors.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	// fail, if not nil, may handle the n-th request. It reports whether it did.
	fail   func(n int, w http.ResponseWriter, r *http.Request) bool
	base64 bool
}

type request struct {
	Path, Auth string
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions"`
}

func serve(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	req := request{Path: r.URL.Path, Auth: r.Header.Get("Authorization")}
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	n := len(s.requests)
	s.mu.Unlock()
	if s.fail != nil && s.fail(n, w, r) {
		return
	}
	if req.Path == "/api/embed" {
		var a struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		for _, text := range req.Input {
			a.Embeddings = append(a.Embeddings, vector(text))
		}
		json.NewEncoder(w).Encode(a)
		return
	}
	type datum struct {
		Index     int `json:"index"`
		Embedding any `json:"embedding"`
	}
	var a struct {
		Data []datum `json:"data"`
	}
	for i, text := range req.Input {
		d := datum{i, vector(text)}
		if s.base64 {
			var b []byte
			for _, x := range vector(text) {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			d.Embedding = base64.StdEncoding.EncodeToString(b)
		}
		a.Data = append([]datum{d}, a.Data...) // last first: the index counts
	}
	json.NewEncoder(w).Encode(a)
}

// vector returns the vector that the server's model has for a text.
func vector(text string) []float32 {
	v := []float32{float32(len(text)), 0, 1}
	for _, c := range text {
		v[1] += float32(c)
	}
	return v
}

func vectorsOf(texts []string) [][]float32 {
	var list [][]float32
	for _, t := range texts {
		list = append(list, vector(t))
	}
	return list
}

// kinds are the providers, with the path of their API.
var kinds = []struct {
	name, path, suffix string
	make               func(Options) (embed.Provider, error)
}{
	{"ollama", "/api/embed", "", Ollama},
	{"openai", "/v1/embeddings", "/v1", OpenAI},
}

func TestEmbed(t *testing.T) {
	texts := make([]string, 150)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s := serve(t)
			p, err := k.make(Options{URL: s.URL + k.suffix, Model: "m", Key: "secret", QueryTemplate: "q: ", DocumentTemplate: "<{text}>"})
			if err != nil {
				t.Fatal(err)
			}
			var filled []string
			for _, text := range texts {
				filled = append(filled, "<"+text+">")
			}
			got, err := p.Embed(t.Context(), embed.Document, texts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(vectorsOf(filled), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got, err := p.Embed(t.Context(), embed.Query, []string{"x"}); err != nil || !cmp.Equal(got, vectorsOf([]string{"q: x"})) {
				t.Errorf("query: %v, %v", got, err)
			}
			if p.Dimensions() != 3 {
				t.Errorf("%d dimensions, want 3", p.Dimensions())
			}
			sizes := []int{}
			for _, r := range s.requests {
				sizes = append(sizes, len(r.Input))
				if r.Path != k.path || r.Model != "m" || r.Auth != "Bearer secret" {
					t.Errorf("request %+v", r)
				}
			}
			slices.Sort(sizes)
			if diff := cmp.Diff([]int{1, 22, 64, 64}, sizes); diff != "" {
				t.Errorf("batches (-want +got)\n%s", diff)
			}
		})
	}
}

func TestNoTexts(t *testing.T) {
	s := serve(t)
	p, err := Ollama(Options{URL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Embed(t.Context(), embed.Document, nil); len(got) != 0 || err != nil || len(s.requests) != 0 {
		t.Errorf("%v, %v after %d requests", got, err, len(s.requests))
	}
}

func TestLongTextsMakeSmallBatches(t *testing.T) {
	s := serve(t)
	p, err := OpenAI(Options{URL: s.URL, Model: "m", Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", batchBytes/2+1)
	if _, err := p.Embed(t.Context(), embed.Document, []string{long, long, "x", long + long, "y"}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range s.requests {
		sizes = append(sizes, len(r.Input))
	}
	if diff := cmp.Diff([]int{1, 2, 1, 1}, sizes); diff != "" {
		t.Errorf("batches (-want +got)\n%s", diff)
	}
}

func TestBase64(t *testing.T) {
	s := serve(t)
	s.base64 = true
	p, err := OpenAI(Options{URL: s.URL, Model: "m", Dimensions: 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Embed(t.Context(), embed.Document, []string{"a", "bc"})
	if diff := cmp.Diff(vectorsOf([]string{"a", "bc"}), got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	if s.requests[0].Dimensions != 3 || s.requests[0].Format != "float" {
		t.Errorf("request %+v", s.requests[0])
	}
}

func TestServerErrors(t *testing.T) {
	respond := func(status int, body string, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name     string
		kind     embed.Kind
		make     func(Options) (embed.Provider, error)
		options  Options
		times    int // number of requests that fail
		fail     func(http.ResponseWriter)
		requests int    // total number of requests
		want     string // of the error; "" is success
	}{
		{"rate limit", embed.Document, OpenAI, Options{}, 3, respond(429, `{"error": {"message": "slow down"}}`), 4, ""},
		{"rate limit for a query", embed.Query, OpenAI, Options{}, 1, respond(429, `{"error": {"message": "slow down"}}`), 1, "status 429: slow down"},
		{"rate limit for good", embed.Document, OpenAI, Options{}, 99, respond(429, `{"error": {"message": "slow down"}}`), 5, "status 429: slow down"},
		{"retry after", embed.Document, OpenAI, Options{}, 1, respond(429, "", "Retry-After", "0.01"), 2, ""},
		{"retry after too long", embed.Document, OpenAI, Options{}, 1, respond(429, "", "Retry-After", "3600"), 1, "no time left to retry"},
		{"overload", embed.Document, Ollama, Options{}, 2, respond(503, `{"error": "server busy"}`), 3, ""},
		{"unknown model", embed.Document, Ollama, Options{}, 9, respond(404, `{"error": "model \"m\" not found"}`), 1, `model "m" not found: to download the model, run: ollama pull m`},
		{"wrong key", embed.Document, OpenAI, Options{Key: "sk-very-secret"}, 9, respond(401, `{"error": {"message": "bad key sk-very-secret"}}`), 1, "bad key [key]: check the API key"},
		{"bad request", embed.Document, OpenAI, Options{}, 9, respond(400, `{"detail": "input is too long"}`), 1, "status 400: input is too long"},
		{"no JSON in an error", embed.Document, OpenAI, Options{}, 9, respond(400, "<html>\n no\n</html>"), 1, "status 400: <html> no </html>"},
		{"long error", embed.Document, OpenAI, Options{}, 9, respond(400, strings.Repeat("x", 10_000)), 1, "x…"},
		{"invalid JSON", embed.Document, OpenAI, Options{}, 9, respond(200, "hello"), 1, "cannot read the response"},
		{"too few", embed.Document, Ollama, Options{}, 9, respond(200, `{"embeddings": [[1, 2, 3]]}`), 1, "got 1 vectors for 2 texts"},
		{"none", embed.Document, OpenAI, Options{}, 9, respond(200, `{}`), 1, "got 0 vectors for 2 texts"},
		{"one twice", embed.Document, OpenAI, Options{}, 9, respond(200, `{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}`), 1, "vector 0 of 2"},
		{"index too high", embed.Document, OpenAI, Options{}, 9, respond(200, `{"data": [{"index": 7, "embedding": [1]}]}`), 1, "vector 7 of 1"},
		{"unequal lengths", embed.Document, Ollama, Options{}, 9, respond(200, `{"embeddings": [[1, 2], [1, 2, 3]]}`), 1, "got a vector with 3 dimensions, want 2"},
		{"empty vectors", embed.Document, Ollama, Options{}, 9, respond(200, `{"embeddings": [[], []]}`), 1, "got a vector with 0 dimensions"},
		{"wrong dimensions", embed.Document, Ollama, Options{Dimensions: 4}, 9, respond(200, `{"embeddings": [[1, 2, 3], [1, 2, 3]]}`), 1, "got a vector with 3 dimensions, want 4"},
		{"too big a number", embed.Document, Ollama, Options{}, 9, respond(200, `{"embeddings": [[1e99], [1]]}`), 1, "cannot read the response"},
		{"redirect elsewhere", embed.Query, OpenAI, Options{}, 9, respond(307, "", "Location", "http://elsewhere.invalid/"), 1, "redirected to elsewhere.invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			s.fail = func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n <= tt.times {
					tt.fail(w)
				}
				return n <= tt.times
			}
			o := tt.options
			o.URL, o.Model, o.Pause = s.URL, "m", time.Millisecond
			p, err := tt.make(o)
			if err != nil {
				t.Fatal(err)
			}
			texts := []string{"a", "bc"}
			got, err := p.Embed(t.Context(), tt.kind, texts)
			switch {
			case tt.want == "" && (err != nil || !cmp.Equal(got, vectorsOf(texts))):
				t.Errorf("%v, %v", got, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "sk-very") || len(err.Error()) > 600) {
				t.Errorf("the error says too much: %v", err)
			}
			if len(s.requests) != tt.requests {
				t.Errorf("%d requests, want %d", len(s.requests), tt.requests)
			}
		})
	}
}

func TestSlowAnswer(t *testing.T) {
	s := serve(t)
	release := make(chan struct{})
	defer close(release)
	s.fail = func(int, http.ResponseWriter, *http.Request) bool {
		<-release
		return true
	}
	p, err := Ollama(Options{URL: s.URL, Model: "m", Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Embed(t.Context(), embed.Query, []string{"a"}); err == nil || !strings.Contains(err.Error(), "timeout after 20ms") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err = Ollama(Options{URL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for len(s.all()) < 2 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := p.Embed(ctx, embed.Document, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func (s *server) all() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func TestUnreachableServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	p, err := Ollama(Options{URL: "http://user:hidden@" + address, Model: "m", Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Embed(t.Context(), embed.Query, []string{"a"})
	if err == nil || !strings.Contains(err.Error(), "ollama serve") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("error %v", err)
	}
}

func TestOneFailureEndsAll(t *testing.T) {
	s := serve(t)
	var requested atomic.Int32
	s.fail = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		requested.Add(1)
		w.WriteHeader(http.StatusBadRequest)
		return true
	}
	p, err := OpenAI(Options{URL: s.URL, Model: "m", Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Embed(t.Context(), embed.Document, make([]string, 1000)); err == nil {
		t.Error("no error")
	}
	if n := requested.Load(); n > 10 {
		t.Errorf("%d requests after the first had failed", n)
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(Options) (embed.Provider, error)
		o    Options
		id   string // "" is an error
	}{
		{"ollama by default", Ollama, Options{Model: "nomic"}, "ollama:nomic"},
		{"dimensions", OpenAI, Options{URL: "https://a.example/v1", Model: "m", Dimensions: 256}, "openai:m:256"},
		{"templates", OpenAI, Options{URL: "https://a.example/v1", Model: "m", QueryTemplate: "q"}, "openai:m#8f3e64f2"},
		{"no model", Ollama, Options{}, ""},
		{"no url", OpenAI, Options{Model: "m"}, ""},
		{"file", OpenAI, Options{Model: "m", URL: "file:///etc"}, ""},
		{"no address", OpenAI, Options{Model: "m", URL: "http://a b:c"}, ""},
	} {
		p, err := tt.make(tt.o)
		if (err != nil) != (tt.id == "") {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if err == nil && p.ID() != tt.id {
			t.Errorf("%s: ID %s, want %s", tt.name, p.ID(), tt.id)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0.5": time.Second / 2, "-3": 0, "soon": 0, "1e30": 0,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestFromLEANN(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct {
		mode, options, sent, auth string
	}{
		{"ollama", `{"host": "` + s.URL + `", "prompt_template": "both: "}`, "both: x", ""},
		{"openai", `{"base_url": "` + s.URL + `/v1", "api_key": "k", "query_prompt_template": "q: ", "build_prompt_template": "d: "}`, "q: x", "Bearer k"},
	} {
		o, err := FromLEANN("m", tt.mode, json.RawMessage(tt.options), Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := map[string]func(Options) (embed.Provider, error){"ollama": Ollama, "openai": OpenAI}[tt.mode](o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Embed(t.Context(), embed.Query, []string{"x"})
		if err != nil || !cmp.Equal(got, vectorsOf([]string{tt.sent})) {
			t.Errorf("%s: %v, %v", tt.mode, got, err)
		}
		if all := s.all(); all[len(all)-1].Auth != tt.auth {
			t.Errorf("%s: authorization %q, want %q", tt.mode, all[len(all)-1].Auth, tt.auth)
		}
	}
	for _, mode := range []string{"sentence-transformers", "mlx", "gemini", ""} {
		if _, err := FromLEANN("m", mode, nil, Options{}); err == nil {
			t.Errorf("mode %q: no error", mode)
		}
	}
	if _, err := FromLEANN("m", "ollama", json.RawMessage("[]"), Options{}); err == nil {
		t.Error("no error for options that are a list")
	}
}

func TestCache(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	open := func() *Cache {
		t.Helper()
		p, err := Ollama(Options{URL: s.URL, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCache(p, dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	// check embeds the texts and returns those that the server received.
	check := func(c *Cache, kind embed.Kind, texts ...string) (requested []string) {
		t.Helper()
		before := len(s.all())
		got, err := c.Embed(t.Context(), kind, texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vectorsOf(texts), got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for _, r := range s.all()[before:] {
			requested = append(requested, r.Input...)
		}
		return requested
	}
	expect := func(step string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); len(want)+len(got) > 0 && diff != "" {
			t.Errorf("%s: requested (-want +got)\n%s", step, diff)
		}
	}
	c := open()
	expect("first", check(c, embed.Document, "a", "b"), "a", "b")
	expect("again", check(c, embed.Document, "b", "a"))
	expect("one new", check(c, embed.Document, "a", "c", "b"), "c")
	expect("a query", check(c, embed.Query, "a"), "a")
	c = open()
	expect("opened again", check(c, embed.Document, "c", "b", "a"))

	data, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) *Cache {
		t.Helper()
		if err := os.WriteFile(c.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return open()
	}
	c = write(data[:len(data)-3])
	expect("cut", check(c, embed.Document, "a", "b", "c"), "c")
	expect("cut and mended", check(open(), embed.Document, "a", "b", "c"))
	flipped := slices.Clone(data)
	flipped[cacheHeader+keySize+2] ^= 1
	expect("flipped", check(write(flipped), embed.Document, "a", "b", "c"), "a")
	expect("no cache", check(write([]byte("something else that is there")), embed.Document, "a"), "a")
	expect("no cache any more", check(open(), embed.Document, "a"))
	expect("empty", check(write(nil), embed.Document, "a"), "a")

	// A new model of the same name has other dimensions.
	changed := func(_ int, w http.ResponseWriter, r *http.Request) bool {
		last := s.all()
		var a struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		for range last[len(last)-1].Input {
			a.Embeddings = append(a.Embeddings, []float32{1, 2})
		}
		json.NewEncoder(w).Encode(a)
		return true
	}
	s.fail = changed
	got, err := open().Embed(t.Context(), embed.Document, []string{"a", "new"})
	if err != nil || !cmp.Equal(got, [][]float32{{1, 2}, {1, 2}}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCacheIsShared(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		p, err := Ollama(Options{URL: s.URL, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCache(p, dir)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for j := range 20 {
				texts := []string{fmt.Sprint("shared ", j), fmt.Sprint("own ", i, j)}
				if got, err := c.Embed(t.Context(), embed.Document, texts); err != nil || !cmp.Equal(got, vectorsOf(texts)) {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "*.vectors"))
	if err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data": [{"index": 1, "embedding": [1]}, {"index": 0, "embedding": "AACAPw=="}]}`), 2)
	f.Add([]byte(`{"data": [{"embedding": null}]}`), 1)
	f.Fuzz(func(t *testing.T, answer []byte, texts int) {
		r := &httpProvider{protocol: protocol{parse: parseOpenAI}}
		vectors, err := r.decode(answer, texts)
		for _, v := range vectors {
			if err != nil || len(v) == 0 || len(v) != len(vectors[0]) {
				t.Fatalf("%v, %v", vectors, err)
			}
		}
	})
}
