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

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/model2vec"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
)

// Names of the kinds of embedders that an EmbedderSpec may have.
const (
	Ollama    = "ollama"
	OpenAI    = "openai"
	Model2Vec = "model2vec"
)

// An EmbedderSpec names an embedder besides the builtin one, and says how to
// reach it.
type EmbedderSpec struct {
	Kind string // one of the above
	// Options are those of the kinds that answer over HTTP. Model2Vec uses only
	// Model, the folder.
	provider.Options
	// KeyEnv is the environment variable that has the key, if Options has none.
	KeyEnv string
	// Weight is what the vectors' part of the best hit counts, beside a lexical
	// part of about 1. 0 is providedWeight.
	Weight float64
}

// providedWeight is a guess between the weight that the builtin embedder's
// vectors were measured to deserve, which know no more than the passages do,
// and that of the words: which model will be asked, nobody knows here. Who
// has judged queries finds a better one with docsearch eval.
const providedWeight = 0.5

// Open returns the embedder. It asks nobody: whether somebody answers shows
// when texts are sent.
func (s EmbedderSpec) Open() (embed.Provider, error) {
	if s.KeyEnv != "" && s.Key == "" {
		if s.Key = os.Getenv(s.KeyEnv); s.Key == "" {
			return nil, fmt.Errorf("embedder %s: the environment variable %s for the API key is not set", s.Kind, s.KeyEnv)
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

// Embedders are those that queries may be sent to: the ones that the user
// configured, and no others, whatever a database says. Each is opened when a
// database is searched that has vectors of it. They may be used from several
// goroutines at once; nil has none.
type Embedders struct {
	specs    func() []EmbedderSpec
	patience time.Duration

	mu    sync.Mutex
	known []*asked // nil: specs was not called yet
}

// NewEmbedders returns the embedders of these specs, which are called for, once
// at most, when a database needs one. A query waits for its vector no longer
// than patience.
func NewEmbedders(specs func() []EmbedderSpec, patience time.Duration) *Embedders {
	return &Embedders{specs: specs, patience: patience}
}

// Close closes the embedders, when those that are being asked have answered.
func (e *Embedders) Close() error {
	e.mu.Lock()
	known := e.known
	e.specs, e.known = func() []EmbedderSpec { return nil }, nil
	e.mu.Unlock()
	var errs []error
	for _, a := range known {
		a.close()
		if c, ok := a.provider.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Check asks the embedder of that ID for a vector and reports what keeps it
// from giving one of so many dimensions.
func (e *Embedders) Check(ctx context.Context, id string, dimensions int) error {
	v, _, err := e.vector(ctx, id, "documentation")
	if err == nil && len(v) != dimensions {
		err = fmt.Errorf("the model returns %d dimensions, the index has %d", len(v), dimensions)
	}
	return err
}

// errNoEmbedder is why vectors are of no use to somebody who has not
// configured what made them.
var errNoEmbedder = errors.New("the config has no such embedder")

// An otherEmbedderError says that the config has an embedder of the kind, and
// that it is another: other settings make other vectors.
type otherEmbedderError struct{ id string }

func (e *otherEmbedderError) Error() string { return "the config has " + e.id + " instead" }

// find returns the embedder of that ID.
func (e *Embedders) find(id string) (*asked, error) {
	if e == nil {
		return nil, errNoEmbedder
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		for _, s := range e.specs() {
			e.known = append(e.known, &asked{spec: s})
		}
	}
	why := errNoEmbedder
	for _, a := range e.known {
		if !strings.HasPrefix(id, a.spec.Kind+":") {
			continue
		}
		if a.provider == nil {
			p, err := a.spec.Open()
			if err != nil {
				why = err
				continue
			}
			a.provider = p
		}
		if a.provider.ID() == id {
			return a, nil
		}
		why = &otherEmbedderError{a.provider.ID()}
	}
	return nil, why
}

// vector asks the embedder of that ID for the vector of a query. It returns
// what the vectors are to weigh, too.
func (e *Embedders) vector(ctx context.Context, id, query string) ([]float32, float64, error) {
	a, err := e.find(id)
	if err != nil {
		return nil, 0, err
	}
	v, err := a.vector(ctx, query, e.patience)
	return v, a.weight(), err
}

// An asked is an embedder with the answers that it gave last: the same query
// goes to several databases, and agents repeat themselves.
type asked struct {
	spec     EmbedderSpec
	provider embed.Provider // nil: not open
	asking   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	answers map[string]*vectorOf // by query
	// Who does not answer is left alone until then, because of trouble: not
	// every search is to wait for him.
	until   time.Time
	trouble error
}

// A vectorOf is a query's vector, once done is closed.
type vectorOf struct {
	done   chan struct{}
	vector []float32
	err    error
}

const (
	mostAnswers = 256
	leftAlone   = 20 * time.Second
)

func (a *asked) weight() float64 {
	if a.spec.Weight > 0 {
		return a.spec.Weight
	}
	return providedWeight
}

func (a *asked) vector(ctx context.Context, query string, patience time.Duration) ([]float32, error) {
	answer, err := a.ask(query)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-answer.done:
		return answer.vector, answer.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		err := fmt.Errorf("timeout after %v; the model may be loading", patience)
		a.leave(err)
		return nil, err
	}
}

// ask asks for the vector of a query, unless it is known or asked for already.
// The question outlives an impatient searcher: some servers begin to load a
// model when it is first asked, and stop when the asker goes.
func (a *asked) ask(query string) (*vectorOf, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errNoEmbedder
	}
	if answer := a.answers[query]; answer != nil && answer.isDone() {
		return answer, nil
	}
	if time.Now().Before(a.until) {
		return nil, a.trouble
	}
	if answer := a.answers[query]; answer != nil {
		return answer, nil
	}
	if len(a.answers) >= mostAnswers || a.answers == nil {
		a.answers = make(map[string]*vectorOf)
	}
	answer := &vectorOf{done: make(chan struct{})}
	a.answers[query] = answer
	a.asking.Go(func() {
		vectors, err := a.provider.Embed(context.Background(), embed.Query, []string{query})
		if err == nil && len(vectors) != 1 {
			err = fmt.Errorf("got %d vectors for a query", len(vectors))
		}
		if err != nil {
			answer.err = err
			a.forget(query)
			a.leave(err)
		} else {
			answer.vector = vectors[0]
			a.leave(nil)
		}
		close(answer.done)
	})
	return answer, nil
}

// close waits for the answers that are due, and takes no more questions.
func (a *asked) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.asking.Wait()
}

func (v *vectorOf) isDone() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

func (a *asked) forget(query string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answers, query)
}

// leave leaves the embedder alone for a while because of err, or no longer if
// that is nil.
func (a *asked) leave(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until, a.trouble = time.Time{}, err
	if err != nil {
		a.until = time.Now().Add(leftAlone)
	}
}
