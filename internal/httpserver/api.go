package httpserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/registry"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/remote"
)

// compressFrom is the size in bytes from which responses are compressed.
const compressFrom = 1400

// listDatabases lists the databases that the client may read.
func (s *Server) listDatabases(w http.ResponseWriter, r *http.Request) {
	databases, ok := forEach(w, r, s.Catalog.Entries(r.Context()), describe)
	if ok {
		s.respond(w, r, remote.Databases{Version: s.Version, Databases: databases})
	}
}

// forEach returns the results of f for the entries, which it calls in parallel. If the
// request ends before, it responds and returns false.
func forEach[T any](w http.ResponseWriter, r *http.Request, entries []mcpserver.Entry,
	f func(context.Context, *mcpserver.Entry) T) ([]T, bool) {
	results := make([]T, len(entries))
	err := parallel.Ranges(r.Context(), len(entries), 1, func(from, to int) error {
		for i := from; i < to; i++ {
			results[i] = f(r.Context(), &entries[i])
		}
		return nil
	})
	if err != nil {
		http.Error(w, "canceled", http.StatusServiceUnavailable)
	}
	return results, err == nil
}

// countTime limits asking a cluster for the size of a database.
const countTime = time.Second

// describe describes a database for the server of another machine.
func describe(ctx context.Context, e *mcpserver.Entry) remote.Database {
	d := remote.Database{Name: e.Name, Description: e.Description, Keywords: e.Keywords, URLs: e.URLs,
		Version: e.Version, Packages: packagesOf(e)}
	if e.Remote != nil {
		if cluster, ok := e.Remote.(mcpserver.Sizer); ok {
			ctx, cancel := context.WithTimeout(ctx, countTime)
			defer cancel()
			d.Passages, d.Documents, _ = cluster.Size(ctx) // unknown without an answer
		}
		return d
	}
	info, err := index.Inspect(e.Path)
	if err != nil {
		return d
	}
	d.Version, d.Passages, d.Documents = info.VersionOr(d.Version), info.Passages, info.Documents
	if info.Source.Kind == pack.KindSource && isReachable(info.Source.Location) {
		d.Pack = info.Source.Location
	}
	return d
}

// packagesOf returns the packages that a database documents, without a derived identity.
func packagesOf(e *mcpserver.Entry) []string {
	return slices.DeleteFunc(slices.Clone(e.Software),
		func(s string) bool { return strings.HasPrefix(s, config.NamePrefix) })
}

// isReachable reports whether other machines can read a pack at a location: it is not a
// file of this one. It may contain no credentials.
func isReachable(location string) bool {
	u, err := url.Parse(location)
	return err == nil && u.User == nil && u.RawQuery == "" && u.Host != "" &&
		(u.Scheme == "https" || u.Scheme == "http" || u.Scheme+"://" == registry.Scheme)
}

// answer answers a hook: it searches like the hook does on its own machine.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	q, entries, ok := decodeRequest(s, w, r, func(q *remote.AnswerRequest) ([]string, error) {
		return q.Databases, q.Check()
	})
	if !ok {
		return
	}
	answers, ok := forEach(w, r, entries,
		func(ctx context.Context, e *mcpserver.Entry) remote.Answer { return answerOf(ctx, e, q) })
	if !ok {
		return
	}
	response := remote.Answers{Databases: map[string]remote.Answer{}}
	for i, e := range entries {
		response.Databases[e.Name] = answers[i]
	}
	s.respond(w, r, response)
}

// An Answerer is an mcpserver.Remote that answers hooks, as a cluster does.
type Answerer interface {
	Answer(ctx context.Context, name string, q *remote.AnswerRequest) remote.Answer
}

// answerOf returns the answer of one database.
func answerOf(ctx context.Context, e *mcpserver.Entry, q *remote.AnswerRequest) (a remote.Answer) {
	if e.Remote != nil {
		cluster, ok := e.Remote.(Answerer)
		if !ok {
			return remote.Answer{Error: "the database is on another server"}
		}
		if a = cluster.Answer(ctx, e.Name, q); a.Error != "" {
			a.Error = errClustered
		}
		return a
	}
	// A mapped file that another process truncates faults. Only this database fails then.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			a = remote.Answer{Error: "internal error while reading the database"}
		}
	}()
	db := &config.Database{Name: e.Name, Keywords: e.Keywords, Path: e.Path, Description: e.Description, URLs: e.URLs,
		Version: e.Version, Used: q.Used.Of(e.Name)}
	var found hook.Answer
	var err error
	held := false
	if q.URL != "" {
		found, held, err = lookup.Indexes{}.Page(db, event.Fetch{URL: q.URL, Prompt: q.Prompt})
	} else {
		search := event.Search{Query: q.Query}
		if q.Limited { // the client has matched the domains already
			search.Allowed = []string{"limited"}
		}
		found, err = lookup.Indexes{}.Search(db, search)
	}
	if err != nil {
		return remote.Answer{Error: errorText(e, err)}
	}
	a = remote.Answer{Held: held, Version: found.Version, Confidence: found.Confidence, Confident: found.Confident,
		Whole: found.Whole}
	if held || found.Confident { // others are never shown
		a.Passages, a.Weights = remote.Passages(found.Passages), found.Weights
	}
	return a
}

// errClustered is the error of a database in a cluster. It does not name the nodes.
const errClustered = "its cluster does not answer"

// errorText returns the text of an error without the folders of this machine.
func errorText(e *mcpserver.Entry, err error) string {
	if e.Remote != nil {
		return errClustered
	}
	return mcpserver.PublicError(err).Error()
}

// search searches for the server of another machine.
func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	q, entries, ok := decodeRequest(s, w, r, func(q *remote.SearchRequest) ([]string, error) {
		if q.Query == "" || q.TopK < 0 || q.TopK > remote.MaxTopK {
			return nil, fmt.Errorf("want a query, and top_k from 0 to %d", remote.MaxTopK)
		}
		text := index.Query{Text: q.Query, Keywords: q.Keywords, Filter: q.Filter}
		return q.Databases, text.Check()
	})
	if !ok {
		return
	}
	databases := make([]mcpserver.RemoteDatabase, len(entries))
	for i, e := range entries {
		databases[i] = mcpserver.RemoteDatabase{Name: e.Name, Used: q.Used.Of(e.Name)}
	}
	found, err := s.Catalog.Search(r.Context(), databases,
		index.Query{Text: q.Query, Keywords: q.Keywords, TopK: q.TopK, Filter: q.Filter})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	response := remote.Results{Databases: map[string]remote.Result{}}
	for i, e := range entries {
		result := remote.NewResult(found[e.Name].Result)
		if err := found[e.Name].Err; err != nil {
			result = remote.Result{Error: errorText(&entries[i], err)}
		}
		response.Databases[e.Name] = result
	}
	s.respond(w, r, response)
}

// read reads a document for the server of another machine.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	q, entries, ok := decodeRequest(s, w, r, func(q *remote.ReadRequest) ([]string, error) {
		if q.Name == "" || len(q.Name) > lexical.MaxQuery || q.Neighbors < 0 || q.Neighbors > mcpserver.MaxNeighbors {
			return nil, fmt.Errorf("want a name, and neighbors from 0 to %d", mcpserver.MaxNeighbors)
		}
		return q.Databases, nil
	})
	if !ok {
		return
	}
	found, err := s.Catalog.Read(r.Context(), namesOf(entries),
		index.Ref{Name: q.Name, Neighbors: q.Neighbors, Whole: q.Whole})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	response := remote.Readings{Databases: map[string]remote.Reading{}}
	for i, e := range entries {
		switch f := found[e.Name]; {
		case errors.Is(f.Err, index.ErrNotFound):
			response.Databases[e.Name] = remote.Reading{NotFound: true}
		case f.Err != nil:
			response.Databases[e.Name] = remote.Reading{Error: errorText(&entries[i], f.Err)}
		default:
			response.Databases[e.Name] = remote.Reading{Passages: remote.Passages(f.Passages), First: f.First,
				Total: f.Total, Wanted: f.Wanted, Mapped: f.Mapped}
		}
	}
	s.respond(w, r, response)
}

func namesOf(entries []mcpserver.Entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// decodeRequest decodes the body of a request and returns the requested databases that
// the client may read. check returns the names of the requested databases. If the request
// is not valid, decodeRequest responds and returns false. A database that the client may
// not read is treated as one that does not exist.
func decodeRequest[T any](s *Server, w http.ResponseWriter, r *http.Request,
	check func(*T) ([]string, error)) (*T, []mcpserver.Entry, bool) {
	q := new(T)
	err := json.NewDecoder(r.Body).Decode(q)
	var names []string
	if err == nil {
		names, err = check(q)
	}
	if err == nil && (len(names) == 0 || len(names) > remote.MaxDatabases) {
		err = fmt.Errorf("want 1 to %d databases", remote.MaxDatabases)
	}
	if err != nil {
		http.Error(w, "invalid request: "+err.Error(), http.StatusBadRequest)
		return nil, nil, false
	}
	var entries []mcpserver.Entry
	for _, e := range s.Catalog.Entries(r.Context()) {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, e.Name) }) {
			entries = append(entries, e)
		}
	}
	if record := requestOf(r.Context()); record != nil {
		record.call.Databases = names
	}
	if len(entries) == 0 {
		http.Error(w, "database not found", http.StatusNotFound)
		return nil, nil, false
	}
	return q, entries, true
}

var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// respond writes v as JSON.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.Log.Error("cannot encode the response", "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Vary", "Accept-Encoding")
	if len(data) >= compressFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := compressors.Get().(*gzip.Writer)
		defer compressors.Put(z)
		z.Reset(&b)
		if _, err := z.Write(data); err == nil && z.Close() == nil {
			data = b.Bytes()
			h.Set("Content-Encoding", "gzip")
		}
	}
	if _, err := w.Write(data); err != nil {
		s.Log.Debug("cannot write the response", "error", err)
	}
}
