package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/cluster/clustersearch"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/remote"
)

// clusterDenials compares the decisions of the hook with databases in a cluster to those
// with local ones. The hook asks a relay, as that of "docsearch serve", which answers with
// the code of the server and the candidates of an engine.
func (l *harness) clusterDenials(out *output, searches []search, databases map[string]clusterDatabase) error {
	local, err := l.askSearches("cluster-local", searches, &l.docs)
	if err != nil {
		return err
	}
	clustered, err := l.askCluster(searches, databases)
	if err != nil {
		return err
	}
	tableHeader(&out.tables, "Denied web searches, with databases in a cluster", "database", "answerable", "denied", "share", "correct page quoted",
		"web only", "denied", "share")
	deniedLine(&out.tables, "local", local, allSearches)
	deniedLine(&out.tables, "cluster", clustered, allSearches)
	listChanged(out.cases, local, clustered)
	out.misses = append(out.misses, denialMisses(local, clustered)...)
	return nil
}

// clusterURL is the address of the cluster in the config file. Only the relay is asked.
const clusterURL = "https://cluster.invalid"

// askCluster sends each search to the hook of a user with the docSets in a cluster.
func (l *harness) askCluster(searches []search, databases map[string]clusterDatabase) ([]judgedSearch, error) {
	passages, err := l.passagesOf(&l.docs)
	if err != nil {
		return nil, err
	}
	c := l.configuration(docSets...)
	entries := map[string]*config.Database{}
	for i := range c.Databases {
		db := &c.Databases[i]
		db.Path, db.Weaviate = "", &stored{[]string{clusterURL}, db.Name}
		entries[db.Name] = &config.Database{Name: db.Name, Keywords: db.Keywords, Version: db.Version, URLs: db.URLs}
	}
	h, err := l.newHook("cluster", c)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(l.ctx)
	relay := make(chan struct{})
	go func() {
		defer close(relay)
		at := config.Locations{Config: filepath.Join(h.folder, "config.json"), Cache: filepath.Join(h.folder, "cache")}
		remote.ServeRelay(ctx, at, answerFrom(entries, databases), slog.New(slog.DiscardHandler))
	}()
	defer func() {
		stop()
		<-relay
	}()
	return h.decide(searches, passages)
}

// answerFrom returns a remote.Asker that answers like a server with these databases.
func answerFrom(entries map[string]*config.Database, databases map[string]clusterDatabase) remote.Asker {
	return func(ctx context.Context, _ string, body []byte) ([]byte, error) {
		var q remote.AnswerRequest
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		answers := remote.Answers{Databases: map[string]remote.Answer{}}
		for _, name := range q.Databases {
			a, err := clustersearch.AnswerFrom(ctx, databases[name], entries[name], q.Used.Of(name), &q)
			if err != nil {
				return nil, err
			}
			a.Version = databases[name].version
			answers.Databases[name] = a
		}
		return json.Marshal(answers)
	}
}

// An engineReader is an engine as an opened database.
type engineReader struct{ *engine }

func (e engineReader) Quote(_ context.Context, q quicksearch.Query) (quicksearch.Answer, error) {
	return e.database.Quote(q, func(text string, limit int) ([]index.Found, error) { return e.best(text, limit), nil })
}

func (engineReader) Read(context.Context, index.Ref) (index.Reading, error) {
	return index.Reading{}, errors.New("the engine has no documents")
}

// listChanged lists the searches whose decisions differ, unless they are held out.
func listChanged(w io.Writer, local, clustered []judgedSearch) {
	for i := range local {
		if local[i].Denied != clustered[i].Denied && (local[i].Half == "" || local[i].Half == devHalf) {
			fmt.Fprintf(w, "\n#### denied locally %v, in a cluster %v (%s): %s\n", local[i].Denied, clustered[i].Denied, local[i].Set, local[i].Query)
		}
	}
}

// denialMisses returns the figures of a cluster that are more than 3 points worse than the
// local ones.
func denialMisses(local, clustered []judgedSearch) (misses []string) {
	share := func(searches []judgedSearch, answerable bool) float64 {
		asked := slices.DeleteFunc(slices.Clone(searches), func(s judgedSearch) bool { return s.Answerable != answerable })
		denied := count(asked, func(*judgedSearch) bool { return true }).denied
		return float64(denied) / float64(max(len(asked), 1))
	}
	const allowed = .03
	if have, want := share(clustered, true), share(local, true); have < want-allowed {
		misses = append(misses, fmt.Sprintf("cluster: the share of denied answerable searches is %.3f, locally %.3f", have, want))
	}
	if have, want := share(clustered, false), share(local, false); have > want+allowed {
		misses = append(misses, fmt.Sprintf("cluster: the share of denied web searches is %.3f, locally %.3f", have, want))
	}
	return misses
}
