package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
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

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/leann/leanntest"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A modelServer implements Ollama's protocol. Its model hashes words to vectors and
// maps two synonyms to the same vector, which a lexical index cannot do.
type modelServer struct {
	*httptest.Server
	trouble atomic.Pointer[func(w http.ResponseWriter) bool] // handles the request if it returns true
	mu      sync.Mutex
	texts   []string
}

const (
	dimensions = 256 // of the model's vectors
	// The model treats these words as synonyms.
	rareWord    = "zymotic"
	synonymWord = "fermentational"
	// questions is an upper bound for the number of queries that a build embeds.
	questions = 500
)

func serveModel(t *testing.T) *modelServer {
	s := &modelServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *modelServer) answer(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.texts = append(s.texts, req.Input...)
	s.mu.Unlock()
	if f := s.trouble.Load(); f != nil && (*f)(w) {
		return
	}
	var a struct {
		Embeddings [][]float32 `json:"embeddings"`
	}
	for _, text := range req.Input {
		a.Embeddings = append(a.Embeddings, modelVector(text, dimensions))
	}
	json.NewEncoder(w).Encode(a)
}

// intercept calls f for each request. The server answers normally if f returns false.
func (s *modelServer) intercept(f func(w http.ResponseWriter) bool) { s.trouble.Store(&f) }

// requested returns the texts embedded since the last call.
func (s *modelServer) requested() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := s.texts
	s.texts = nil
	return texts
}

func modelVector(text string, dimensions int) []float32 {
	v := make([]float32, dimensions)
	v[0] = 0.1 // a common direction of all vectors, as in neural models
	for _, word := range strings.Fields(strings.ToLower(text)) {
		weight := float32(0.05)
		if word == synonymWord {
			word = rareWord
		}
		if strings.Trim(word, "`") == rareWord {
			word, weight = rareWord, 4
		}
		h := fnv.New32a()
		h.Write([]byte(word))
		v[1+h.Sum32()%uint32(dimensions-1)] += weight
	}
	return v
}

func (s *modelServer) spec() index.EmbedderSpec {
	return index.EmbedderSpec{Kind: index.Ollama, Options: provider.Options{URL: s.URL, Model: "m", Pause: time.Millisecond}}
}

// newEmbedders returns the embedders of a config with these specs.
func newEmbedders(t *testing.T, timeout time.Duration, specs ...index.EmbedderSpec) *index.Embedders {
	e := index.NewEmbedders(func() []index.EmbedderSpec { return specs }, timeout)
	t.Cleanup(func() { e.Close() })
	return e
}

// buildWith builds the database in dir from the passages there.
func buildWith(t *testing.T, dir string, opt index.BuildOptions) (index.Info, error) {
	t.Helper()
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	return index.Build(t.Context(), dir, index.FromLEANN(found), opt)
}

func mustOpen(t *testing.T, s index.EmbedderSpec) embed.Provider {
	t.Helper()
	p, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// provided builds a database of n passages with the server's vectors.
func provided(t *testing.T, s *modelServer, n int) string {
	t.Helper()
	dir := t.TempDir()
	indextest.Passages(t, dir, n)
	info, err := buildWith(t, dir, index.BuildOptions{Embedder: mustOpen(t, s.spec())})
	if err != nil {
		t.Fatal(err)
	}
	if p := info.Provided; p == nil || p.Name != "ollama:m" || p.Dimensions != dimensions || p.Recall.Value < 0.99 || p.Recall.Sample < min(n, 100) {
		t.Fatalf("provided %+v", p)
	}
	return dir
}

func search(t *testing.T, db *index.Database, q index.Query) index.Result {
	t.Helper()
	r, err := db.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProvidedVectorsFindSynonyms(t *testing.T) {
	s := serveModel(t)
	dir := provided(t, s, 120)
	db := open(t, dir)
	first := "Artifact registry > Security > Rotate the signing certificate\nTo rotate"
	if texts := s.requested(); !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, first) }) || slices.Contains(texts, "") {
		t.Errorf("no text begins with %q, or one is empty", first)
	}
	q := index.Query{Text: synonymWord, TopK: 3}
	if r := search(t, db, q); len(r.Hits) != 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "the config has no such embedder") {
		t.Errorf("without the embedder: %d hits, notes %q", len(r.Hits), r.Notes)
	}
	q.Embedders = newEmbedders(t, time.Minute, s.spec())
	r := search(t, db, q)
	if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) || r.Hits[0].Dense != 0.5 || r.Confidence < 0.9 || len(r.Notes) != 0 {
		t.Errorf("hits %+v, notes %q", r.Hits, r.Notes)
	}
	spec := s.spec()
	spec.Weight = 2
	q.Embedders = newEmbedders(t, time.Minute, spec)
	if r := search(t, db, q); len(r.Hits) == 0 || r.Hits[0].Dense != 2 {
		t.Errorf("weight 2: hits %+v", r.Hits)
	}
	// Lexical scores still count in addition to vector scores.
	q.Text, q.Embedders = indextest.Question, newEmbedders(t, time.Minute, s.spec())
	if r := search(t, db, q); len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) || r.Hits[0].Lexical <= 0 {
		t.Errorf("the question: %+v", r.Hits)
	}
	if r := search(t, db, index.Query{Text: "  ", Embedders: q.Embedders}); len(r.Hits)+len(r.Notes) != 0 {
		t.Errorf("an empty query: %d hits, notes %q", len(r.Hits), r.Notes)
	}
}

func TestVerifyProvided(t *testing.T) {
	dir := provided(t, serveModel(t), 60)
	r, err := index.Verify(t.Context(), dir, nil)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%q, %v", r.Problems, err)
	}
	path := filepath.Join(dir, "docsearch", r.Generation, "provided.bin")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err = index.Verify(t.Context(), dir, nil); err != nil || len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "provided.bin") {
		t.Errorf("damaged: %q, %v", r.Problems, err)
	}
}

// If the embedder fails, a search still returns hits, with a note about the failure.
func TestFailingEmbedder(t *testing.T) {
	s := serveModel(t)
	dir := provided(t, s, 350)
	db := open(t, dir)
	gone := serveModel(t)
	gone.Close()
	for _, tt := range []struct {
		name    string
		trouble func(w http.ResponseWriter)
		spec    func(spec *index.EmbedderSpec)
		want    string
	}{
		{name: "error", trouble: func(w http.ResponseWriter) {
			http.Error(w, `{"error": "out of memory"}`, http.StatusInternalServerError)
		}, want: "status 500: out of memory"},
		{name: "rate limit", trouble: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "60")
			http.Error(w, `{"error": "too many requests"}`, http.StatusTooManyRequests)
		}, want: "status 429: too many requests"},
		{name: "no server", spec: func(spec *index.EmbedderSpec) { spec.URL = gone.URL }, want: "to start the server, run: ollama serve"},
		{name: "other dimensions", trouble: func(w http.ResponseWriter) { fmt.Fprint(w, `{"embeddings": [[1, 2]]}`) },
			want: "the model returns 2 dimensions, the index has 256; to use the model, run: docsearch index build DIR"},
		{name: "nonsense", trouble: func(w http.ResponseWriter) { fmt.Fprint(w, `{"embeddings": []}`) }, want: "got 0 vectors for 1 texts"},
		{name: "other settings", spec: func(spec *index.EmbedderSpec) { spec.DocumentTemplate = "passage: " },
			want: "the config has ollama:m#"},
		{name: "other model", spec: func(spec *index.EmbedderSpec) { spec.Model = "n" }, want: "the config has ollama:n instead; to use the model, run: docsearch index build DIR"},
		{name: "other provider", spec: func(spec *index.EmbedderSpec) { spec.Kind = index.OpenAI }, want: "the config has no such embedder"},
		{name: "no key", spec: func(spec *index.EmbedderSpec) { spec.KeyEnv = "DOCSEARCH_TEST_NO_SUCH_KEY" },
			want: "the environment variable DOCSEARCH_TEST_NO_SUCH_KEY for the API key is not set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.intercept(func(w http.ResponseWriter) bool {
				if tt.trouble != nil {
					tt.trouble(w)
				}
				return tt.trouble != nil
			})
			spec := s.spec()
			if tt.spec != nil {
				tt.spec(&spec)
			}
			e := newEmbedders(t, time.Minute, spec)
			r := search(t, db, index.Query{Text: indextest.Question, TopK: 3, Embedders: e})
			want := strings.ReplaceAll(tt.want, "DIR", dir)
			if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "searched without the vectors of ollama:m: ") || !strings.Contains(r.Notes[0], want) {
				t.Errorf("notes %q, want one with %q", r.Notes, want)
			}
			if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) || r.Hits[0].Dense <= 0 || !r.Confident {
				t.Errorf("want an answer from the lexical index and the built-in vectors: confident %t, %+v", r.Confident, r.Hits)
			}
			if err := e.Check(t.Context(), "ollama:m", dimensions); err == nil {
				t.Error("the check reports no error")
			}
		})
	}
}

func TestSlowEmbedder(t *testing.T) {
	s := serveModel(t)
	db := open(t, provided(t, s, 60))
	release, entered := make(chan struct{}), make(chan struct{}, 10)
	s.intercept(func(http.ResponseWriter) bool {
		entered <- struct{}{}
		<-release
		return false
	})
	s.requested()
	e := newEmbedders(t, 20*time.Millisecond, s.spec())
	q := index.Query{Text: synonymWord, Embedders: e}
	for range 3 {
		r := search(t, db, q)
		if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "timeout after 20ms") {
			t.Errorf("notes %q", r.Notes)
		}
	}
	<-entered
	close(release)
	// A late vector is cached for the next search.
	for deadline := time.Now().Add(time.Minute); ; {
		r := search(t, db, q)
		if len(r.Notes) == 0 {
			if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) {
				t.Errorf("hits %+v", r.Hits)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the vector was never cached")
		}
		time.Sleep(time.Millisecond)
	}
	if n := len(s.requested()); n != 1 {
		t.Errorf("the server received %d requests, want once", n)
	}
}

func TestQueryIsEmbeddedOnce(t *testing.T) {
	s := serveModel(t)
	db := open(t, provided(t, s, 60))
	s.requested()
	e := newEmbedders(t, time.Minute, s.spec())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				r, err := db.Search(t.Context(), index.Query{Text: fmt.Sprint("question ", i%2), Embedders: e})
				if err != nil || len(r.Notes) > 0 {
					t.Errorf("notes %q, %v", r.Notes, err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(s.requested()); n != 2 {
		t.Errorf("the server received %d requests, want twice", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if r := search(t, db, index.Query{Text: "question 0", Embedders: e}); len(r.Notes) != 1 {
		t.Errorf("after Close: notes %q", r.Notes)
	}
}

// After a failed build, the next one does not embed the same passages again.
func TestBuildResumesEmbedding(t *testing.T) {
	s := serveModel(t)
	dir, kept := t.TempDir(), t.TempDir()
	indextest.Passages(t, dir, 290) // the first request batch has 256
	cached := func() embed.Provider {
		t.Helper()
		spec := s.spec()
		spec.Batch, spec.Parallel = 50, 1
		c, err := provider.NewCache(mustOpen(t, spec), kept)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var requests atomic.Int64
	s.intercept(func(w http.ResponseWriter) bool {
		if requests.Add(1) <= 6 {
			return false
		}
		http.Error(w, `{"error": "quota"}`, http.StatusForbidden)
		return true
	})
	_, err := buildWith(t, dir, index.BuildOptions{Embedder: cached()})
	var failed *provider.Error
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "status 403: quota") {
		t.Fatalf("error %v", err)
	}
	if _, err := index.Open(dir); err == nil {
		t.Error("the failed build replaced the index")
	}
	first := s.requested()
	s.intercept(func(http.ResponseWriter) bool { return false })
	if _, err := buildWith(t, dir, index.BuildOptions{Embedder: cached()}); err != nil {
		t.Fatal(err)
	}
	second := s.requested()
	again := 0
	for _, text := range first[:256] {
		if slices.Contains(second, text) {
			again++
		}
	}
	if again > 0 {
		t.Errorf("%d texts were embedded twice", again)
	}
	if _, err := buildWith(t, dir, index.BuildOptions{Embedder: cached()}); err != nil {
		t.Fatal(err)
	}
	if third := s.requested(); len(third) > questions {
		t.Errorf("the third build sent %d texts, want only queries", len(third))
	}
}

func TestProvidedBuildIsDeterministic(t *testing.T) {
	s := serveModel(t)
	var files [2][]byte
	for i := range files {
		dir := provided(t, s, 100)
		info, err := index.Inspect(dir)
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(filepath.Join(dir, "docsearch", info.Generation, "provided.bin")); err != nil {
			t.Fatal(err)
		}
	}
	if string(files[0]) != string(files[1]) {
		t.Error("equal passages produced different files")
	}
}

func TestUselessEmbedder(t *testing.T) {
	s := serveModel(t)
	s.intercept(func(w http.ResponseWriter) bool {
		http.Error(w, `{"error": "model \"m\" not found"}`, http.StatusNotFound)
		return true
	})
	dir := t.TempDir()
	indextest.Passages(t, dir, 20)
	if _, err := buildWith(t, dir, index.BuildOptions{Embedder: mustOpen(t, s.spec())}); err == nil || !strings.Contains(err.Error(), "ollama pull m") {
		t.Errorf("error %v", err)
	}
	if _, err := buildWith(t, dir, index.BuildOptions{Embedder: nothing{}}); err == nil || !strings.Contains(err.Error(), "returned only zero vectors") {
		t.Errorf("error %v", err)
	}
	if _, err := (index.EmbedderSpec{Kind: "oracle"}).Open(); err == nil {
		t.Error("no error for an unknown kind")
	}
}

// nothing is a model without a vocabulary.
type nothing struct{ embed.Provider }

func (nothing) ID() string { return "nothing" }

func (nothing) Embed(_ context.Context, _ embed.Kind, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = make([]float32, 4)
	}
	return vectors, nil
}

// A build uses the vectors stored by LEANN only if they match the embedder.
func TestStoredVectors(t *testing.T) {
	const n = 120
	for _, tt := range []struct {
		name string
		make func(i int, p *passage.Passage) []float32
		want string
	}{
		{"the embedder's", func(_ int, p *passage.Passage) []float32 { return modelVector(p.Text, dimensions) }, ""},
		{"rounded", func(_ int, p *passage.Passage) []float32 {
			v := modelVector(p.Text, dimensions)
			for i := range v {
				v[i] = float32(math.Round(float64(v[i])*20) / 20)
			}
			return v
		}, ""},
		{"another model's", func(i int, _ *passage.Passage) []float32 { return modelVector(fmt.Sprint("zymotic x", i), dimensions) }, "the mean cosine is"},
		{"other dimensions", func(_ int, p *passage.Passage) []float32 { return modelVector(p.Text, 40) }, "40 dimensions, the model has 256"},
		{"too few", func(i int, p *passage.Passage) []float32 {
			if i == n-1 {
				return nil
			}
			return modelVector(p.Text, dimensions)
		}, "no vector for passage"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serveModel(t)
			dir := t.TempDir()
			indextest.Passages(t, dir, n)
			writeStored(t, dir, tt.make)
			found, err := leann.Find(dir)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := found.OpenVectors()
			if err != nil {
				t.Fatal(err)
			}
			defer stored.Close()
			_, err = buildWith(t, dir, index.BuildOptions{Embedder: mustOpen(t, s.spec()), Stored: stored})
			if tt.want != "" {
				var mismatch *index.StoredError
				if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want one with %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(s.requested(), func(text string) bool {
				return strings.Contains(text, indextest.Answer) && strings.HasPrefix(text, "Artifact")
			}) {
				t.Error("the passages were embedded again")
			}
			r := search(t, open(t, dir), index.Query{Text: synonymWord, Embedders: newEmbedders(t, time.Minute, s.spec())})
			if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) {
				t.Errorf("hits %+v, notes %q", r.Hits, r.Notes)
			}
		})
	}
}

// writeStored writes the files of a LEANN index for the passages in dir, with stored
// vectors until vector returns nil.
func writeStored(t *testing.T, dir string, vector func(i int, p *passage.Passage) []float32) {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join(dir, "documents.leann.passages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors [][]float32
	for line := range strings.Lines(string(lines)) {
		p, err := passage.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if v := vector(len(vectors), &p); v != nil {
			vectors = append(vectors, v)
		}
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("documents.leann.meta.json", []byte(`{"version": "1.0", "backend_name": "hnsw", "embedding_model": "m", "embedding_mode": "ollama", "dimensions": 256}`))
	write("documents.index", leanntest.FAISS(vectors, leanntest.Marked))
}

// Hits found only by vectors satisfy the query's operators.
func TestOperatorsBindVectors(t *testing.T) {
	s := serveModel(t)
	db := open(t, provided(t, s, 120))
	e := newEmbedders(t, time.Minute, s.spec())
	answered := func(h index.Hit) bool { return strings.Contains(h.Text, indextest.Answer) }
	for _, tt := range []struct {
		query string
		hits  bool
		holds func(index.Hit) bool
	}{
		{synonymWord, true, nil},
		{synonymWord + " -zymotic", true, func(h index.Hit) bool { return !answered(h) }},
		{synonymWord + " -path:page-0", true, func(h index.Hit) bool { return !strings.Contains(h.URL, "page-0.html") }},
		{synonymWord + " path:page-3", true, func(h index.Hit) bool { return strings.Contains(h.URL, "page-3.html") }},
		{synonymWord + " path:nowhere", false, nil},
		{synonymWord + ` -"zymotic rotate"`, true, func(h index.Hit) bool { return !answered(h) }},
		{synonymWord + " title:artifact", true, answered},
		{`"zymotic rotate"`, true, answered},
	} {
		t.Run(tt.query, func(t *testing.T) {
			r := search(t, db, index.Query{Text: tt.query, TopK: 5, Embedders: e})
			if len(r.Hits) > 0 != tt.hits || len(r.Notes) > 0 {
				t.Fatalf("%d hits, notes %q", len(r.Hits), r.Notes)
			}
			for _, h := range r.Hits {
				if tt.holds != nil && !tt.holds(h) {
					t.Errorf("%s (%s) does not satisfy the query's operators", h.ID, h.URL)
				}
			}
		})
	}
}

// The embedder receives the query as the lexical index searches it: with corrections
// and without filler words.
func TestVectorsOfCorrectedText(t *testing.T) {
	s := serveModel(t)
	db := open(t, provided(t, s, 120))
	s.requested()
	search(t, db, index.Query{Text: "rotate the signing certifciate official documentation", Embedders: newEmbedders(t, time.Minute, s.spec())})
	if diff := cmp.Diff([]string{"rotate the signing certificate"}, s.requested()); diff != "" {
		t.Errorf("texts (-want +got)\n%s", diff)
	}
}
