package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/model2vec"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
	"github.com/docsearch/docsearch/internal/parallel"
)

// Values of EmbedderSpec.Kind.
const (
	Ollama    = "ollama"
	OpenAI    = "openai"
	Model2Vec = "model2vec"
)

// An EmbedderSpec configures an external embedding model.
type EmbedderSpec struct {
	Kind string // Ollama, OpenAI, or Model2Vec
	// Options configures the HTTP providers. Model2Vec uses only Model, the model
	// folder.
	provider.Options
	// KeyEnv is the environment variable with the API key, used if Options.Key is
	// empty.
	KeyEnv string
	// Weight is the vector score of the nearest passage, relative to a best lexical
	// score of about 1. Zero means defaultProvidedWeight.
	Weight float64
}

// defaultProvidedWeight is a compromise for unknown models. It lies between the
// measured weight of the built-in embedder, which is trained only on the passages, and
// the weight of the lexical score. Users with judged queries can tune it with docsearch
// eval.
const defaultProvidedWeight = 0.5

// Open returns the embedder without connecting to a server. Connection errors appear
// when texts are embedded.
func (s EmbedderSpec) Open() (embed.Provider, error) {
	if s.KeyEnv != "" && s.Key == "" {
		if s.Key = os.Getenv(s.KeyEnv); s.Key == "" {
			return nil, fmt.Errorf("embedder %s: the environment variable %s for the API key is not set", s.Kind,
				s.KeyEnv)
		}
	}
	switch s.Kind {
	case Ollama:
		return provider.Ollama(s.Options)
	case OpenAI:
		return provider.OpenAI(s.Options)
	case Model2Vec:
		return model2vec.Open(s.Model)
	}
	return nil, fmt.Errorf("invalid embedder provider %q: want %s, %s, or %s", s.Kind, Ollama, OpenAI, Model2Vec)
}

// Embedders are the configured embedders. Queries are sent only to them, whichever
// embedder a database specifies. Each is opened when a database with its vectors is
// searched. Embedders may be used concurrently. A nil *Embedders has no embedders.
type Embedders struct {
	specs   func() []EmbedderSpec
	timeout time.Duration

	mu      sync.Mutex        // not held while a model is opened
	clients []*embedderClient // nil before the call of specs
}

// NewEmbedders returns the embedders of the given specs. It calls specs at most once,
// when a database needs an embedder; concurrent searches wait for that call. A query waits for its vector for at most timeout.
func NewEmbedders(specs func() []EmbedderSpec, timeout time.Duration) *Embedders {
	return &Embedders{specs: specs, timeout: timeout}
}

// Close waits for pending requests and closes the embedders.
func (e *Embedders) Close() error {
	e.mu.Lock()
	known := e.clients
	e.specs, e.clients = func() []EmbedderSpec { return nil }, nil
	e.mu.Unlock()
	var errs []error
	for _, a := range known {
		errs = append(errs, a.close())
	}
	return errors.Join(errs...)
}

// Check embeds a text with the embedder id and returns an error if that fails or the
// vector has a different number of dimensions.
func (e *Embedders) Check(ctx context.Context, id string, dimensions int) error {
	v, _, err := e.vector(ctx, id, "documentation")
	if err == nil && len(v) != dimensions {
		err = fmt.Errorf("the model returns %d dimensions, the index has %d", len(v), dimensions)
	}
	return err
}

// errNoEmbedder is returned if the embedder of a database's vectors is not configured.
var errNoEmbedder = errors.New("the config has no such embedder")

// An embedderMismatchError reports that the configured embedder of the same kind has
// other settings, so its vectors are not comparable.
type embedderMismatchError struct{ id string }

func (e *embedderMismatchError) Error() string { return "the config has " + e.id + " instead" }

// find returns the embedder with this ID. ctx limits the wait for a model that is opened.
func (e *Embedders) find(ctx context.Context, id string) (*embedderClient, error) {
	if e == nil {
		return nil, errNoEmbedder
	}
	why := errNoEmbedder
	for _, a := range e.all() {
		if !strings.HasPrefix(id, a.spec.Kind+":") {
			continue
		}
		p, err := a.opening.Do(ctx, "", func(context.Context) (embed.Provider, error) { return a.open() })
		switch {
		case err != nil:
			why = err
		case p.ID() == id:
			return a, nil
		default:
			why = &embedderMismatchError{p.ID()}
		}
	}
	return nil, why
}

func (e *Embedders) all() []*embedderClient {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.clients == nil {
		for _, s := range e.specs() {
			e.clients = append(e.clients, &embedderClient{spec: s})
		}
	}
	return e.clients
}

// vector embeds a query with the embedder id. It also returns the weight of its
// vectors.
func (e *Embedders) vector(ctx context.Context, id, query string) ([]float32, float64, error) {
	a, err := e.find(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	v, err := a.vector(ctx, query, e.timeout)
	return v, a.weight(), err
}

// An embedderClient is an embedder with a cache of query vectors, because the same
// query is sent to several databases and agents repeat queries. After an error, it
// fails fast for retryDelay, so that not every search waits for an unreachable server.
type embedderClient struct {
	spec     EmbedderSpec
	opening  parallel.Shared[embed.Provider]
	inflight sync.WaitGroup
	requests singleflight.Group // by query

	mu       sync.Mutex
	provider embed.Provider // nil until opened, then it does not change
	closed   bool
	cache    map[string][]float32 // by query
	retryAt  time.Time
	lastErr  error // returned until retryAt
}

const (
	maxCachedQueries = 256
	retryDelay       = 20 * time.Second
)

func (a *embedderClient) weight() float64 {
	if a.spec.Weight > 0 {
		return a.spec.Weight
	}
	return defaultProvidedWeight
}

// open opens the provider, unless that was done. Only one call runs at a time.
func (a *embedderClient) open() (embed.Provider, error) {
	a.mu.Lock()
	p := a.provider
	a.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := a.spec.Open()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errors.Join(errNoEmbedder, closeProvider(p))
	}
	a.provider = p
	return p, nil
}

func closeProvider(p embed.Provider) error {
	if c, ok := p.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// vector returns the vector of a query. The request for it continues after the timeout:
// some servers load a model at the first request and stop loading if the client
// disconnects. Its vector is cached for the next query.
func (a *embedderClient) vector(ctx context.Context, query string, timeout time.Duration) ([]float32, error) {
	v, answer, err := a.request(query)
	if v != nil || err != nil {
		return v, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case r := <-answer:
		v, _ := r.Val.([]float32)
		return v, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		err := fmt.Errorf("timeout after %v; the model may be loading", timeout)
		a.setError(err)
		return nil, err
	}
}

// request returns the cached vector of a query, or else requests it, unless a request for
// it is running.
func (a *embedderClient) request(query string) ([]float32, <-chan singleflight.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.cache[query]
	switch {
	case a.closed:
		return nil, nil, errNoEmbedder
	case v != nil:
		return v, nil, nil
	case time.Now().Before(a.retryAt):
		return nil, nil, a.lastErr
	}
	// Under the lock, so that a request that is answered since the look into the cache is
	// not sent again.
	requested := a.requests.DoChan(query, func() (any, error) { return a.embed(query) })
	answer := make(chan singleflight.Result, 1)
	a.inflight.Go(func() { answer <- <-requested })
	return nil, answer, nil
}

// embed requests and caches the vector of a query.
func (a *embedderClient) embed(query string) ([]float32, error) {
	vectors, err := a.provider.Embed(context.Background(), embed.Query, []string{query})
	if err == nil && len(vectors) != 1 {
		err = fmt.Errorf("got %d vectors for a query", len(vectors))
	}
	if a.setError(err); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.cache) >= maxCachedQueries || a.cache == nil {
		a.cache = make(map[string][]float32)
	}
	a.cache[query] = vectors[0]
	return vectors[0], nil
}

// close rejects new requests, waits for pending ones and closes the provider.
func (a *embedderClient) close() error {
	a.mu.Lock()
	a.closed = true
	p := a.provider
	a.mu.Unlock()
	a.inflight.Wait()
	return closeProvider(p)
}

// setError makes requests fail with err for retryDelay, or succeed again if err is nil.
func (a *embedderClient) setError(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.retryAt, a.lastErr = time.Time{}, err
	if err != nil {
		a.retryAt = time.Now().Add(retryDelay)
	}
}
