package mcpserver

import (
	"context"
	"sync"

	"github.com/docsearch/docsearch/internal/index"
)

// A Remote is another docsearch server, or a cluster. The results of its databases have a problem of
// their own, or else the request as a whole failed. A cluster is also a Sizer, and answers hooks
// (httpserver.Answerer).
type Remote interface {
	// Host returns the server's host name, which results contain.
	Host() string
	Search(ctx context.Context, databases []RemoteDatabase, q index.Query) (map[string]RemoteResult, error)
	Read(ctx context.Context, databases []string, ref index.Ref) (map[string]RemoteReading, error)
}

// A Sizer is a Remote of one database that counts its passages and documents.
type Sizer interface {
	Size(ctx context.Context) (passages, documents int, err error)
}

// A RemoteDatabase is a database of a server in a search.
type RemoteDatabase struct {
	Name string
	Used string // version that the project uses; see Entry
}

func namesOf(databases []RemoteDatabase) []string {
	names := make([]string, len(databases))
	for i, d := range databases {
		names[i] = d.Name
	}
	return names
}

// A RemoteResult is the result of one database, or its problem.
type RemoteResult struct {
	index.Result
	// Version is the documented version, if the client compares it with that of the
	// project; else the notes of the result say so.
	Version string
	Err     error
}

// A RemoteReading is a document of one database, or the problem of the database.
type RemoteReading struct {
	index.Reading
	Err error
}

// perServer returns a function that returns the result of a remote database. ask asks one
// server for all its databases among the entries. It runs once per server, at the first
// call for one of them; concurrent calls share its result.
func perServer[T any](entries []Entry,
	ask func(r Remote, databases []RemoteDatabase) (map[string]T, error)) func(Entry) (T, error) {
	servers := map[Remote][]RemoteDatabase{}
	for _, e := range entries {
		if e.Remote != nil {
			servers[e.Remote] = append(servers[e.Remote], RemoteDatabase{e.RemoteName, e.Used})
		}
	}
	asked := make(map[Remote]func() (map[string]T, error), len(servers))
	for r, databases := range servers {
		asked[r] = sync.OnceValues(func() (map[string]T, error) { return ask(r, databases) })
	}
	return func(e Entry) (found T, err error) {
		all, err := asked[e.Remote]()
		return all[e.RemoteName], err
	}
}
