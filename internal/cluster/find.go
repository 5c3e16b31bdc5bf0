package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// commitTime is how long a Database uses the state that it has read.
const commitTime = 10 * time.Second

// A Database is a database in a cluster, open for searching and reading. It may be used
// concurrently.
type Database struct {
	client *Client
	name   string

	mu      sync.Mutex
	current *State
	readAt  time.Time
}

// A State is a state of a database, with its statistics. It never changes: searches that
// use a state see the database as it was then.
type State struct {
	*Commit
	Statistics []byte
}

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
// cluster does not answer then, the last known state stays in use.
func (d *Database) State(ctx context.Context) (*State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current != nil && time.Since(d.readAt) < commitTime {
		return d.current, nil
	}
	state, err := d.client.readState(ctx, d.name, d.current)
	if err != nil && (d.current == nil || !errors.Is(err, ErrUnavailable)) {
		return nil, err
	}
	if err == nil {
		d.current = state
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
	state := &State{Commit: commit}
	if known != nil && known.Stats == commit.Stats {
		state.Statistics = known.Statistics
		return state, nil
	}
	state.Statistics, err = c.readParts(ctx, commit.Tenant, commit.Stats)
	return state, err
}

// readParts reads a file that is stored in parts, and checks its digest.
func (c *Client) readParts(ctx context.Context, tenant string, ref PartsRef) ([]byte, error) {
	var file []byte
	for i := range ref.parts() {
		path := "/v1/objects/" + classParts + "/" + partID(tenant, ref, i).String() + "?tenant=" + tenant
		err := c.do(ctx, request{method: http.MethodGet, path: path, decode: func(data []byte) error {
			part, err := decodeProperties[partProperties](data)
			if err != nil {
				return err
			}
			content, err := base64.StdEncoding.DecodeString(part.Data)
			if err == nil && len(content) != min(partSize, ref.Size-i*partSize) {
				err = errors.New("invalid answer: a part of another size")
			}
			file = append(file, content...)
			return err
		}})
		if err != nil {
			return nil, fmt.Errorf("cannot read the statistics: %w", err)
		}
	}
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != ref.Digest {
		return nil, errors.New("cannot read the statistics: the digest differs")
	}
	return file, nil
}

// A Search asks for the candidates of a query: the passages and pages with the best BM25
// scores. A word of a query counts as often as it occurs in it.
type Search struct {
	Passages     string // words to search in the bags and symbols of passages; "" for none
	PassageLimit int
	Pages        string // words to search in the bags of pages; "" for none
	PageLimit    int
	// Documents limits the passages to those of these documents. Empty: all.
	Documents []string
}

// Found contains the candidates of a search, best first.
type Found struct {
	Passages []FoundPassage
	Pages    []FoundPage
}

// A FoundPassage is a candidate, without its bag and symbols. Its slot identifies it in
// its state.
type FoundPassage struct {
	Passage
	Slot  uint32
	Score float64
}

// A FoundPage is a candidate, without its bag.
type FoundPage struct {
	Page
	Slot  uint32
	Score float64
}

// foundPassage and foundPage are hits in an answer.
type foundPassage struct {
	ID         string     `json:"passage"`
	Document   string     `json:"document"`
	Place      int        `json:"place"`
	Slot       uint32     `json:"slot"`
	Line       string     `json:"line"`
	Record     []byte     `json:"record"` // base64
	Additional additional `json:"_additional"`
}

type foundPage struct {
	Document   string     `json:"document"`
	Slot       uint32     `json:"slot"`
	Record     []byte     `json:"record"`
	Additional additional `json:"_additional"`
}

type additional struct {
	Score json.Number `json:"score"` // Weaviate sends it as a string
}

func (a additional) score() float64 {
	f, err := a.Score.Float64()
	if err != nil || f != f {
		return 0
	}
	return f
}

const (
	passageFields = "passage document place slot line record"
	pageFields    = "document slot record"
)

// Find returns the candidates of a search in a state. Passages and pages are found by one
// request.
func (d *Database) Find(ctx context.Context, state *State, s Search) (Found, error) {
	if s.Passages == "" && s.Pages == "" {
		return Found{}, nil
	}
	// Invisible objects can be among the best. Then more are needed.
	for passages, pages := s.PassageLimit, s.PageLimit; ; passages, pages = 2*passages, 2*pages {
		found, hidden, err := d.find(ctx, state, s, min(passages, maxFiltered), min(pages, maxFiltered))
		if err != nil {
			return Found{}, err
		}
		enough := len(found.Passages) >= s.PassageLimit || hidden.Passages == 0 || passages >= maxFiltered
		if enough && (len(found.Pages) >= s.PageLimit || hidden.Pages == 0 || pages >= maxFiltered) {
			found.Passages = found.Passages[:min(len(found.Passages), s.PassageLimit)]
			found.Pages = found.Pages[:min(len(found.Pages), s.PageLimit)]
			return found, nil
		}
	}
}

// find is Find with other limits. hidden are the numbers of found objects that are not
// visible.
func (d *Database) find(ctx context.Context, state *State, s Search, passages, pages int) (found Found, hidden counts, err error) {
	var parts string
	if s.Passages != "" {
		parts += fmt.Sprintf("%s(tenant:%s,limit:%d,bm25:{query:%s,properties:[\"bag\",\"symbols\"]}%s){%s _additional{score}}",
			classPassages, quote(state.Tenant), passages, quote(s.Passages), documentsWhere(s.Documents), passageFields)
	}
	if s.Pages != "" {
		parts += fmt.Sprintf(" %s(tenant:%s,limit:%d,bm25:{query:%s,properties:[\"bag\"]}){%s _additional{score}}",
			classPages, quote(state.Tenant), pages, quote(s.Pages), pageFields)
	}
	err = d.client.graphql(ctx, "{Get{"+parts+"}}", func(data []byte) (err error) {
		found, hidden, err = decodeFound(data, state, s.Passages != "", s.Pages != "")
		return err
	})
	return found, hidden, err
}

// counts are numbers of objects.
type counts struct{ Passages, Pages int }

// documentsWhere returns the argument that limits a search to documents, with a comma.
func documentsWhere(documents []string) string {
	if len(documents) == 0 {
		return ""
	}
	list, _ := json.Marshal(documents) // strings can always be encoded
	return fmt.Sprintf(",where:{path:[\"document\"],operator:ContainsAny,valueText:%s}", list)
}

// decodeFound decodes an answer and omits objects that are not visible in the state,
// which it counts.
func decodeFound(data []byte, state *State, passages, pages bool) (found Found, hidden counts, err error) {
	classes, err := decodeClasses(data)
	if err != nil {
		return found, hidden, err
	}
	if passages {
		list, err := decodeObjects[foundPassage](classes, classPassages)
		if err != nil {
			return found, hidden, err
		}
		hidden.Passages = len(list)
		for _, p := range list {
			if p.Place < 0 {
				return found, hidden, errors.New("invalid answer: a negative place")
			}
			if state.Passages.visible(p.Slot) {
				found.Passages = append(found.Passages, FoundPassage{Passage{ID: p.ID, Document: p.Document, Place: p.Place, Line: p.Line, Record: p.Record}, p.Slot, p.Additional.score()})
			}
		}
		hidden.Passages -= len(found.Passages)
	}
	if pages {
		list, err := decodeObjects[foundPage](classes, classPages)
		if err != nil {
			return found, hidden, err
		}
		hidden.Pages = len(list)
		for _, p := range list {
			if state.Pages.visible(p.Slot) {
				found.Pages = append(found.Pages, FoundPage{Page{Document: p.Document, Record: p.Record}, p.Slot, p.Additional.score()})
			}
		}
		hidden.Pages -= len(found.Pages)
	}
	return found, hidden, nil
}

// maxFiltered is the maximum number of objects that a condition finds, Weaviate's limit.
const maxFiltered = 10_000

// filter returns the visible passages or pages whose property has one of the values.
func (d *Database) filter(ctx context.Context, state *State, class, fields, property string, values []string) (Found, error) {
	if len(values) == 0 {
		return Found{}, nil
	}
	list, _ := json.Marshal(values) // strings can always be encoded
	query := fmt.Sprintf("{Get{%s(tenant:%s,limit:%d,where:{path:[%q],operator:ContainsAny,valueText:%s}){%s}}}",
		class, quote(state.Tenant), maxFiltered, property, list, fields)
	var found Found
	err := d.client.graphql(ctx, query, func(data []byte) (err error) {
		found, _, err = decodeFound(data, state, class == classPassages, class == classPages)
		return err
	})
	return found, err
}

// Document returns the passages of a document in order, none if the database does not
// contain it.
func (d *Database) Document(ctx context.Context, state *State, document string) ([]FoundPassage, error) {
	found, err := d.filter(ctx, state, classPassages, passageFields, "document", []string{document})
	slices.SortFunc(found.Passages, func(a, b FoundPassage) int { return a.Place - b.Place })
	return found.Passages, err
}

// Passage returns the passages with an ID: one or none.
func (d *Database) Passage(ctx context.Context, state *State, id string) ([]FoundPassage, error) {
	found, err := d.filter(ctx, state, classPassages, passageFields, "passage", []string{id})
	return found.Passages, err
}

// Pages returns the pages of documents, in any order.
func (d *Database) Pages(ctx context.Context, state *State, documents []string) ([]FoundPage, error) {
	found, err := d.filter(ctx, state, classPages, pageFields, "document", documents)
	return found.Pages, err
}
