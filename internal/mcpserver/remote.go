package mcpserver

import (
	"context"
	"sync"

	"github.com/docsearch/docsearch/internal/index"
)

// A Remote is another docsearch server. The results of its databases have a problem of
// their own, or else the request as a whole failed.
type Remote interface {
	// Host returns the server's host name, which results contain.
	Host() string
	Search(ctx context.Context, databases []string, q index.Query) (map[string]RemoteResult, error)
	Read(ctx context.Context, databases []string, ref index.Ref) (map[string]RemoteReading, error)
}

// A RemoteResult is the result of one database, or its problem.
type RemoteResult struct {
	index.Result
	Err error
}

// A RemoteReading is a document of one database, or the problem of the database.
type RemoteReading struct {
	index.Reading
	Err error
}

// perServer returns a function that returns the result of a remote database. ask asks one
// server for all its databases among the entries. It runs once per server, at the first
// call for one of them; concurrent calls share its result.
func perServer[T any](entries []Entry, ask func(r Remote, databases []string) (map[string]T, error)) func(Entry) (T, error) {
	names := map[Remote][]string{}
	for _, e := range entries {
		if e.Remote != nil {
			names[e.Remote] = append(names[e.Remote], e.RemoteName)
		}
	}
	asked := make(map[Remote]func() (map[string]T, error), len(names))
	for r, databases := range names {
		asked[r] = sync.OnceValues(func() (map[string]T, error) { return ask(r, databases) })
	}
	return func(e Entry) (found T, err error) {
		all, err := asked[e.Remote]()
		return all[e.RemoteName], err
	}
}
