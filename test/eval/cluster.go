package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/cluster/clustersearch"
	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// cluster compares the search in databases of a cluster with the search in local ones. It
// computes the candidates that an exact search engine returns, without a network.
func (l *harness) cluster(out *output) error {
	var size exportSize
	err := l.compareCluster(out, "Search in a cluster: the best 200 passages by BM25, ranked by docsearch", func(_ string, db *index.Database) (clusterDatabase, error) {
		e, err := l.newEngine(db, &size)
		if err != nil {
			return clusterDatabase{}, err
		}
		return clusterDatabase{engineReader{e}, e.search, e.database.Version()}, nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&out.tables, "\nPer passage, the cluster stores %d bytes of terms, %d of the record and %d of the passage. The statistics have %.1f bytes per term, %d per passage.\n",
		size.bag/size.passages, size.record/size.passages, size.line/size.passages, float64(size.statistics)/float64(size.terms), size.statistics/size.passages)
	return nil
}

// A clusterDatabase is a local database as a cluster has it.
type clusterDatabase struct {
	clustersearch.Reader
	search  searchFunc
	version string // that the pages document, if known
}

// compareCluster compares databases of a cluster with the local ones that push gets.
func (l *harness) compareCluster(out *output, title string, push func(name string, db *index.Database) (clusterDatabase, error)) error {
	if _, err := l.open(&l.docs); err != nil {
		return err
	}
	docs := filepath.Join(l.collections, "docs")
	queries, err := eval.ReadQueries(docs)
	if err != nil {
		return err
	}
	identifiers, err := eval.ReadIdentifiers(filepath.Join(docs, "identifiers.jsonl"))
	if err != nil {
		return err
	}
	searches, err := eval.ReadLines[search](filepath.Join(docs, "denials.jsonl"))
	if err != nil {
		return err
	}
	var local, remote comparison
	databases := map[string]clusterDatabase{}
	for _, m := range docSets {
		db, err := index.Open(filepath.Join(l.data, m.name))
		if err != nil {
			return err
		}
		defer db.Close()
		pushed, err := push(m.name, db)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		databases[m.name] = pushed
		root := db.Info().Source.Root
		for _, s := range []struct {
			results *comparison
			search  searchFunc
		}{
			{&local, func(q index.Query) (index.Result, time.Duration, error) {
				start := time.Now()
				r, err := db.Search(l.ctx, q)
				return r, time.Since(start), err
			}},
			{&remote, pushed.search},
		} {
			c := clusterCase{s.results, s.search, m, root}
			if err := c.ask(queries, identifiers, searches); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	tableHeader(&out.tables, title, "database", "page nDCG@10", "success@5",
		"identifiers: section @1", "answerable: confident", "web only: confident", "ranking p50", "p99")
	local.row(&out.tables, "local, with vectors")
	remote.row(&out.tables, "cluster")
	remote.check(out, &local)
	return l.clusterDenials(out, searches, databases)
}

// A searchFunc searches a database. It also returns the time that docsearch took, without
// the search for candidates.
type searchFunc func(index.Query) (index.Result, time.Duration, error)

// A comparison has the results of one kind of database.
type comparison struct {
	pages, names           []eval.Measures
	answerable, webOnly    int // searches
	answered, webConfident int // those with a confident result
	millis                 []float64
}

// A clusterCase asks one database.
type clusterCase struct {
	*comparison
	search searchFunc
	manual manual
	root   string
}

func (c *clusterCase) ask(queries []eval.Query, identifiers []eval.Identifier, searches []search) error {
	for i := range queries {
		q := &queries[i]
		if q.Set != c.manual.name {
			continue
		}
		places, _, err := c.places(q.Text, q)
		if err != nil {
			return err
		}
		c.pages = append(c.pages, eval.Measure(q.RankedPages(places)))
	}
	for _, id := range identifiers {
		if id.Set != c.manual.name {
			continue
		}
		q := eval.Query{Targets: []eval.Target{{Page: id.Page, Anchor: id.Anchor, Grade: 1}}}
		places, _, err := c.places(id.Name, &q)
		if err != nil {
			return err
		}
		c.names = append(c.names, eval.Measure(q.RankedSections(places)))
	}
	for _, s := range searches {
		if s.Set != c.manual.name {
			continue
		}
		_, r, err := c.places(s.Query, &eval.Query{})
		if err != nil {
			return err
		}
		asked, confident := &c.webOnly, &c.webConfident
		if s.Answerable {
			asked, confident = &c.answerable, &c.answered
		}
		*asked++
		if r.Confident {
			*confident++
		}
	}
	return nil
}

// places searches the database and returns the locations of the hits.
func (c *clusterCase) places(text string, q *eval.Query) ([]eval.Place, index.Result, error) {
	r, took, err := c.search(index.Query{Text: text, Names: c.manual.names(), Version: c.manual.version, TopK: 20})
	if err != nil {
		return nil, r, fmt.Errorf("%q: %w", text, err)
	}
	c.millis = append(c.millis, float64(took.Microseconds())/1000)
	places := make([]eval.Place, len(r.Hits))
	for i := range r.Hits {
		places[i] = eval.Place{Page: c.page(q, &r.Hits[i].Passage), Anchors: r.Hits[i].Anchors}
	}
	return places, r, nil
}

// page returns the name of the passage's document in the query's targets.
func (c *clusterCase) page(q *eval.Query, p *passage.Passage) string {
	document := filepath.ToSlash(p.Document())
	document = strings.TrimPrefix(document, strings.TrimRight(filepath.ToSlash(c.root), "/")+"/")
	for _, t := range q.Targets {
		if p.URL != "" && strings.HasSuffix(document, "/"+t.Page) {
			return t.Page
		}
	}
	return document
}

func (c *comparison) row(w io.Writer, name string) {
	page, names := eval.Mean(c.pages), eval.Mean(c.names)
	slices.Sort(c.millis)
	at := func(p float64) string { return millis(c.millis[int(p*float64(len(c.millis)-1))]) }
	tableRow(w, name, page.NDCG10, page.Success5, names.Success1,
		percent(c.answered, c.answerable), percent(c.webConfident, c.webOnly), at(.5), at(.99))
}

// check checks the figures of a cluster.
func (c *comparison) check(out *output, local *comparison) {
	check := func(figure string, have, floor float64) { out.check("cluster: "+figure, have, floor) }
	page := eval.Mean(c.pages)
	check("page nDCG@10", page.NDCG10, eval.Mean(local.pages).NDCG10-.02)
	check("success@5", page.Success5, .79)
	check("identifiers, section @1", eval.Mean(c.names).Success1, .92)
	share := func(c *comparison) float64 { return float64(c.answered) / float64(c.answerable) }
	check("share of confident answers", share(c), share(local)-.03)
	check("share of web searches without confidence", 1-float64(c.webConfident)/float64(c.webOnly), .97-float64(local.webConfident)/float64(local.webOnly))
}

// An engine is a search engine with the passages of a database.
type engine struct {
	database *index.External
	passages []index.Found
	bags     cluster.BM25 // of the passages
}

// An exportSize adds up what pushes send, in bytes.
type exportSize struct {
	passages, terms, bag, record, line, statistics int
}

// newEngine exports a database to an engine and adds its size.
func (l *harness) newEngine(db *index.Database, size *exportSize) (*engine, error) {
	e := &engine{}
	statistics, err := db.Export(l.ctx, func(x index.Exported) error {
		size.passages++
		size.bag += len(x.Bag)
		size.record += len(x.Record)
		size.line += len(x.Line)
		e.bags.Add(x.Bag)
		e.passages = append(e.passages, index.Found{ID: x.ID, Document: x.Document, Place: x.Place, Line: string(x.Line), Record: slices.Clone(x.Record)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	size.statistics += len(statistics)
	size.terms += e.bags.Terms()
	e.database, err = index.OpenExternal(statistics)
	return e, err
}

func (e *engine) search(q index.Query) (index.Result, time.Duration, error) {
	start := time.Now()
	var finding time.Duration
	r, err := e.database.Search(q, func(text string, limit int) ([]index.Found, error) {
		from := time.Now()
		defer func() { finding = time.Since(from) }()
		return e.best(text, limit), nil
	})
	return r, time.Since(start) - finding, err
}

// best returns the passages with the highest scores.
func (e *engine) best(text string, limit int) []index.Found {
	var found []index.Found
	for _, n := range e.bags.Best(text, limit) {
		found = append(found, e.passages[n])
	}
	return found
}
