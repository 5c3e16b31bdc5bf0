package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

const (
	// commitTime is how long a Database uses the state that it has read.
	commitTime = 10 * time.Second
	// refreshWait is how long a caller waits for a newer state while it has an older one,
	// and refreshTime limits reading it.
	refreshWait = 100 * time.Millisecond
	refreshTime = 30 * time.Second
)

// A Database is a database in a cluster, open for searching and reading. It may be used
// concurrently.
type Database struct {
	client *Client
	name   string

	refreshing singleflight.Group

	mu      sync.Mutex // not held while the cluster is asked
	current *State
	readAt  time.Time
}

// A State is a state of a database. It never changes: searches that use a state see the
// database as it was then.
type State struct {
	*Commit
	ranking *index.External
}

// Version returns the documented version, or version if it is unknown.
func (s *State) Version(version string) string { return cmp.Or(s.ranking.Version(), version) }

// Documents returns the number of documents.
func (s *State) Documents() int { return s.ranking.Documents() }

// Explain explains the result of a search, without the terms of its query.
func (s *State) Explain(r index.Result) index.Explanation { return s.ranking.Explain(r) }

// Open opens a database and reads its state. Errors are those of Client.Commit.
func Open(ctx context.Context, o Options, name string) (*Database, error) {
	client, err := NewClient(o)
	if err != nil {
		return nil, err
	}
	d := &Database{client: client, name: name}
	if _, err := d.State(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return d, nil
}

// openAt returns a database with a fixed state.
func (c *Client) openAt(state *State) *Database {
	return &Database{client: c, name: state.Name, current: state, readAt: time.Now().Add(24 * time.Hour)}
}

// Close closes idle connections.
func (d *Database) Close() { d.client.Close() }

// State returns the current state. It asks the cluster again after some seconds. If the
// cluster does not answer soon then, the last known state stays in use.
func (d *Database) State(ctx context.Context) (*State, error) {
	known, fresh := d.known()
	if fresh {
		return known, nil
	}
	read := d.refreshing.DoChan("", func() (any, error) {
		// The next callers use the result, too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
		defer cancel()
		return d.refresh(ctx)
	})
	var late <-chan time.Time
	if known != nil {
		late = time.After(refreshWait)
	}
	select {
	case r := <-read:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*State), nil
	case <-late:
		return known, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// known returns the last known state, or nil, and whether it can be used without asking.
func (d *Database) known() (state *State, fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.current, d.current != nil && time.Since(d.readAt) < commitTime
}

// refresh reads the state. If no node answers, it returns the last known one.
func (d *Database) refresh(ctx context.Context) (*State, error) {
	known, _ := d.known()
	state, err := d.client.readState(ctx, d.name, known)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.current = state
	case known == nil || !errors.Is(err, ErrUnavailable):
		return nil, err
	}
	d.readAt = time.Now()
	return d.current, nil
}

// readState reads the state of a database. known is an older state, nil for none.
func (c *Client) readState(ctx context.Context, name string, known *State) (*State, error) {
	commit, err := c.Commit(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.openState(ctx, commit, known)
}

// openState reads the statistics of a state, unless they are those of a known one.
func (c *Client) openState(ctx context.Context, commit *Commit, known *State) (*State, error) {
	if known != nil && known.Stats == commit.Stats {
		return &State{commit, known.ranking}, nil
	}
	data, err := c.readStatistics(ctx, commit)
	if err != nil {
		return nil, err
	}
	ranking, err := index.OpenExternal(data)
	if err != nil {
		return nil, fmt.Errorf("cannot use the database %q: %w", commit.Name, err)
	}
	return &State{commit, ranking}, nil
}

// Search returns the passages that best answer a query. It asks one node once.
func (d *Database) Search(ctx context.Context, q index.Query) (index.Result, error) {
	state, err := d.State(ctx)
	if err != nil {
		return index.Result{}, err
	}
	return state.ranking.Search(q, func(words string, limit int) ([]index.Found, error) {
		return d.Find(ctx, state, words, limit)
	})
}

// Quote returns the passages that a hook shows for a query.
func (d *Database) Quote(ctx context.Context, q quicksearch.Query) (quicksearch.Answer, error) {
	state, err := d.State(ctx)
	if err != nil {
		return quicksearch.Answer{}, err
	}
	return state.ranking.Quote(q, func(words string, limit int) ([]index.Found, error) {
		return d.Find(ctx, state, words, limit)
	})
}

// Read reads passages of a document. The error wraps index.ErrNotFound if the database
// does not contain it.
func (d *Database) Read(ctx context.Context, ref index.Ref) (index.Reading, error) {
	state, err := d.State(ctx)
	if err != nil {
		return index.Reading{}, err
	}
	return index.ReadExternal(ctx, library{d, state}, ref)
}

// A library reads a state of a database.
type library struct {
	*Database
	state *State
}

// Document implements index.Library.
func (l library) Document(ctx context.Context, key string) ([]index.Found, error) {
	found, _, err := l.get(ctx, l.state, where("document", key), maxFiltered)
	slices.SortFunc(found, func(a, b index.Found) int { return a.Place - b.Place })
	return found, err
}

// Passage implements index.Library.
func (l library) Passage(ctx context.Context, id string) ([]index.Found, error) {
	found, _, err := l.get(ctx, l.state, where("passage", id), maxFiltered)
	return found, err
}

// foundPassage is a passage in an answer.
type foundPassage struct {
	ID       string `json:"passage"`
	Document string `json:"document"`
	Place    int    `json:"place"`
	Slot     uint32 `json:"slot"`
	Line     string `json:"line"`
	Record   []byte `json:"record"` // base64
}

const passageFields = "passage document place slot line record"

// Find returns up to limit visible passages with the best BM25 scores, best first. words
// are searched in bags. A word counts as often as it occurs.
func (d *Database) Find(ctx context.Context, state *State, words string, limit int) ([]index.Found, error) {
	if words == "" {
		return nil, nil
	}
	// Invisible objects can be among the best. Then more are needed.
	for ask := limit; ; ask *= 2 {
		ask = min(ask, maxFiltered)
		argument := fmt.Sprintf("bm25:{query:%s,properties:[\"bag\"]}", quote(words))
		found, hidden, err := d.get(ctx, state, argument, ask)
		if err != nil || len(found) >= limit || hidden == 0 || ask == maxFiltered {
			return found[:min(len(found), limit)], err
		}
	}
}

// get returns the visible passages in an answer to a query, and the number of the other
// ones.
func (d *Database) get(ctx context.Context, state *State, argument string,
	limit int) (found []index.Found, hidden int, err error) {
	query := fmt.Sprintf("{Get{%s(tenant:%s,limit:%d,%s){%s}}}", classPassages, quote(state.Tenant), limit, argument,
		passageFields)
	err = d.client.graphql(ctx, query, func(data []byte) (err error) {
		found, hidden, err = decodeFound(data, state)
		return err
	})
	return found, hidden, err
}

// decodeFound decodes an answer and omits objects that are not visible in the state,
// which it counts.
func decodeFound(data []byte, state *State) (found []index.Found, hidden int, err error) {
	list, err := decodeObjects[foundPassage](data, classPassages)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range list {
		switch {
		case p.Place < 0:
			return nil, 0, errors.New("invalid answer: a negative place")
		case state.Passages.visible(p.Slot):
			found = append(found, index.Found{ID: p.ID, Document: p.Document, Place: p.Place, Line: p.Line,
				Record: p.Record})
		default:
			hidden++
		}
	}
	return found, hidden, nil
}

// maxFiltered is the maximum number of objects in an answer, Weaviate's limit.
const maxFiltered = 10_000

// where returns the condition that a property has a value.
func where(property, value string) string {
	return fmt.Sprintf("where:{path:[%q],operator:Equal,valueText:%s}", property, quote(value))
}
