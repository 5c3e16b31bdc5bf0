// Package judge searches databases with judged queries, as the server does, and measures
// the results.
package judge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/usererror"
)

// JSON output of eval.
type (
	Evaluation struct {
		Queries     *Scores           `json:"queries,omitempty"` // all sets
		Sets        []setScores       `json:"sets,omitempty"`
		Identifiers *IdentifierScores `json:"identifiers,omitempty"`
		Confidence  []confidenceScore `json:"confidence,omitempty"` // one per set, then the total
		Decisions   []DecisionScore   `json:"decisions,omitempty"`  // one per set
		Results     []queryResult     `json:"results,omitempty"`
		Missed      []queryResult     `json:"missed_identifiers,omitempty"`
		Notes       []string          `json:"notes,omitempty"`

		DecisionResults []decisionResult `json:"decision_results,omitempty"`
	}
	setScores struct {
		Name string `json:"name"`
		Scores
		Identifiers *IdentifierScores `json:"identifiers,omitempty"`
	}
	Scores struct {
		Page    eval.Measures `json:"page"`
		Section eval.Measures `json:"section"`
		Latency latency       `json:"latency_ms"`
	}
	latency struct {
		P50 float64 `json:"p50"`
		P90 float64 `json:"p90"`
		P99 float64 `json:"p99"`
	}
	// IdentifierScores hold the measures of queries with the full name, its last
	// component, and the words it consists of.
	IdentifierScores struct {
		Full  eval.Measures `json:"full"`
		Last  eval.Measures `json:"last"`
		Words eval.Measures `json:"words"`
	}
	// A confidenceScore counts the confident results of a database for its own
	// queries (in-domain) and for those of other databases (out-of-domain).
	confidenceScore struct {
		Name                 string  `json:"name"`
		InDomain             int     `json:"in_domain"`               // queries
		Confident            int     `json:"confident"`               // confident in-domain queries
		SuccessAt1           int     `json:"success_at_1"`            // confident, and the page of the first hit is relevant
		SuccessAt5           int     `json:"success_at_5"`            // confident, and a page of the first five hits is relevant
		OutOfDomain          int     `json:"out_of_domain"`           // queries of other databases
		OutOfDomainConfident int     `json:"out_of_domain_confident"` // confident out-of-domain queries
		Precision            float64 `json:"precision"`               // in-domain share of confident queries
		Recall               float64 `json:"recall"`                  // confident share of in-domain queries
		Threshold            float64 `json:"threshold,omitempty"`
	}
	queryResult struct {
		ID         string        `json:"id,omitempty"`
		Set        string        `json:"set,omitempty"`
		Text       string        `json:"text"`
		Source     string        `json:"source,omitempty"`
		Page       eval.Measures `json:"page"`
		Section    eval.Measures `json:"section"`
		Confidence float64       `json:"confidence"`
		Confident  bool          `json:"confident"`
		Millis     float64       `json:"ms"`
		Hits       []string      `json:"hits"`
	}
)

// An openedDatabase is a database under evaluation.
type openedDatabase struct {
	library.Ref
	*index.Database
	root string            // prefix of the document paths in hits
	copy *cluster.Database // searched instead; nil: none
}

// search searches the database or its copy in a cluster.
func (d *openedDatabase) search(ctx context.Context, q index.Query) (index.Result, error) {
	if d.copy != nil {
		return d.copy.Search(ctx, q)
	}
	return d.Search(ctx, q)
}

// Options select how an evaluator searches.
type Options struct {
	Unscoped   bool            // search all databases with each query
	Confidence bool            // also search each database with the other databases' queries
	Cluster    cluster.Options // search the copies in this cluster, if it has nodes
}

// An Evaluator runs queries on databases and judges the results.
type Evaluator struct {
	Options
	databases []openedDatabase
	names     [][]string // of each database
	report    progress.Func
	done      int64
	total     int64
}

// Open opens databases to evaluate.
func Open(chosen []library.Ref, o Options, report progress.Func) (*Evaluator, error) {
	m := &Evaluator{Options: o, report: report}
	for _, d := range chosen {
		db, err := index.Open(d.Path)
		if err != nil {
			m.Close()
			return nil, library.WithRepair(humanize.Argument(d.Path), fmt.Errorf("%s: %w", d.Name, err))
		}
		m.databases = append(m.databases, openedDatabase{Ref: d, Database: db, root: db.Info().Source.Root})
		if len(o.Cluster.URLs) > 0 {
			opened := &m.databases[len(m.databases)-1]
			if opened.copy, err = cluster.Open(context.Background(), o.Cluster, d.Name); err != nil {
				m.Close()
				return nil, o.Cluster.Explain(err)
			}
		}
		m.names = append(m.names, d.Aliases)
	}
	return m, nil
}

// Close closes the databases.
func (m *Evaluator) Close() {
	for _, d := range m.databases {
		d.Close()
		if d.copy != nil {
			d.copy.Close()
		}
	}
}

// judgedHits is the number of hits to judge: ten pages with up to two hits
// each.
const judgedHits = 20

// Measure searches with queries and identifiers, and judges the results.
func (m *Evaluator) Measure(ctx context.Context, queries []eval.Query,
	identifiers []eval.Identifier) (Evaluation, error) {
	var out Evaluation
	m.total = int64(len(queries) + 3*len(identifiers))
	if m.Confidence {
		m.total += int64(len(queries) * len(m.databases))
	}

	skipped := map[string]int{}
	for i := range queries {
		q := &queries[i]
		databases, ok := m.databasesFor(q.Set)
		if !ok {
			skipped[q.Set]++
			continue
		}
		r, err := m.evaluate(ctx, databases, q)
		if err != nil {
			return out, err
		}
		if q.IsDecision() {
			out.addDecision(r, *q.Answer)
		} else {
			out.Results = append(out.Results, r)
		}
	}
	if len(out.Results) > 0 {
		all := scoresOf(out.Results)
		out.Queries = &all
	}

	var missed []queryResult
	byForm, err := m.measureIdentifiers(ctx, identifiers, skipped, &missed)
	if err != nil {
		return out, err
	}
	out.Identifiers, out.Missed = identifierScoresOf(byForm, ""), missed
	for _, set := range setsOf(out.Results, byForm) {
		s := setScores{Name: set, Identifiers: identifierScoresOf(byForm, set)}
		s.Scores = scoresOf(slices.DeleteFunc(slices.Clone(out.Results),
			func(r queryResult) bool { return r.Set != set }))
		out.Sets = append(out.Sets, s)
	}

	if m.Confidence {
		judged := slices.DeleteFunc(slices.Clone(queries), func(q eval.Query) bool { return q.IsDecision() })
		if out.Confidence, err = m.measureConfidence(ctx, judged); err != nil {
			return out, err
		}
		if len(out.Confidence) > 0 {
			out.Confidence = append(out.Confidence, sumConfidence(out.Confidence))
		}
	}

	for set, n := range skipped {
		out.Notes = append(out.Notes, fmt.Sprintf("skipped %s: database %q not found", humanize.Count(n, "query"), set))
	}
	slices.Sort(out.Notes)
	if len(out.Results) == 0 && len(out.Decisions) == 0 && out.Identifiers == nil {
		return out, usererror.WithHint(errors.New("cannot measure: no query names an existing database"),
			"pass --unscoped to search all databases with each query")
	}
	return out, nil
}

// databasesFor returns the databases to search for the queries of a set.
func (m *Evaluator) databasesFor(set string) ([]int, bool) {
	if set != "" && !m.Unscoped {
		i := slices.IndexFunc(m.databases, func(d openedDatabase) bool { return strings.EqualFold(d.Name, set) })
		return []int{i}, i >= 0
	}
	all := make([]int, len(m.databases))
	for i := range all {
		all[i] = i
	}
	return all, true
}

// databaseName returns the database's spelling of a set name.
func (m *Evaluator) databaseName(set string) string {
	if i := slices.IndexFunc(m.databases, func(d openedDatabase) bool { return strings.EqualFold(d.Name, set) }); i >= 0 {
		return m.databases[i].Name
	}
	return set
}

// An answer is the merged result of several databases.
type answer struct {
	hits       []index.Hit
	from       []*openedDatabase // database of each hit
	confidence float64
	confident  bool
	took       time.Duration
}

// search searches databases as the server does: it restricts several databases
// to those that the query names, unless the confidence of all of these is below
// index.Doubtful.
func (m *Evaluator) search(ctx context.Context, chosen []int, text string) (a answer, err error) {
	start := time.Now()
	searched := chosen
	if len(chosen) > 1 {
		if named := index.Named(text, m.names); len(named) > 0 {
			searched = named
		}
	}
	results, err := m.results(ctx, searched, text)
	if len(searched) < len(chosen) &&
		!slices.ContainsFunc(results, func(r index.Result) bool { return r.Confidence >= index.Doubtful }) &&
		err == nil {
		searched = chosen
		results, err = m.results(ctx, searched, text)
	}
	if err != nil {
		return a, err
	}
	merged := index.Merge(results, judgedHits)
	a.took = time.Since(start)
	for _, h := range merged {
		a.hits = append(a.hits, h.Hit)
		a.from = append(a.from, &m.databases[searched[h.From]])
	}
	for _, r := range results {
		a.confidence, a.confident = max(a.confidence, r.Confidence), a.confident || r.Confident
	}
	m.done++
	m.report.Report("asking", m.done, m.total)
	return a, nil
}

func (m *Evaluator) results(ctx context.Context, databases []int, text string) ([]index.Result, error) {
	results := make([]index.Result, len(databases))
	for i, k := range databases {
		var err error
		d := &m.databases[k]
		if results[i], err = d.search(ctx, index.Query{Text: text, Names: d.Aliases, Version: d.Version, TopK: judgedHits}); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		results[i].Confident = results[i].Confident && results[i].Confidence >= d.Threshold
	}
	return results, nil
}

// evaluate searches databases with a query and judges the answer.
func (m *Evaluator) evaluate(ctx context.Context, databases []int, q *eval.Query) (queryResult, error) {
	a, err := m.search(ctx, databases, q.Text)
	if err != nil {
		return queryResult{}, err
	}
	r := queryResult{ID: q.ID, Set: m.databaseName(q.Set), Text: q.Text, Source: q.Source, Confidence: a.confidence,
		Confident: a.confident,
		Millis:    float64(a.took.Microseconds()) / 1000}
	r.Page, r.Section = judge(q, a)
	const shown = 5
	for i, h := range a.hits[:min(shown, len(a.hits))] {
		location := h.Locator()
		if len(databases) > 1 {
			location = a.from[i].Name + ": " + location
		}
		r.Hits = append(r.Hits, location)
	}
	return r, nil
}

// judge measures an answer by pages and by sections.
func judge(q *eval.Query, a answer) (page, section eval.Measures) {
	if len(q.Grades) > 0 {
		// The judgments name passages or documents, whose passages count once.
		named := slices.ContainsFunc(a.hits, func(h index.Hit) bool { return q.Grades[h.ID] > 0 })
		ids := make([]string, len(a.hits))
		for i, h := range a.hits {
			if ids[i] = h.ID; !named {
				ids[i] = a.from[i].document(&h.Passage)
			}
		}
		m := eval.Measure(q.Ranked(ids))
		return m, m
	}
	places := make([]eval.Place, len(a.hits))
	for i, h := range a.hits {
		places[i] = eval.Place{Page: a.from[i].targetPage(q, &h.Passage), Anchors: h.Anchors}
		if q.Set != "" && !strings.EqualFold(a.from[i].Name, q.Set) {
			places[i].Page = a.from[i].Name + ": " + places[i].Page
		}
	}
	return eval.Measure(q.RankedPages(places)), eval.Measure(q.RankedSections(places))
}

// targetPage returns the name of the passage's document in the query's targets.
// Targets may contain only the end of a URL, so that they work with every
// origin of the pages.
func (d *openedDatabase) targetPage(q *eval.Query, p *passage.Passage) string {
	document := d.document(p)
	for _, t := range q.Targets {
		if p.URL != "" && strings.HasSuffix(document, "/"+t.Page) {
			return t.Page
		}
	}
	return document
}

// document returns the URL of the passage's document or its path in the source.
func (d *openedDatabase) document(p *passage.Passage) string {
	key := filepath.ToSlash(p.Document())
	if rest, ok := strings.CutPrefix(key, strings.TrimRight(filepath.ToSlash(d.root), "/")+"/"); ok && d.root != "" {
		return rest
	}
	return key
}

// Query forms for identifiers.
const (
	fullName = iota
	lastComponent
	nameWords
	formCount
)

// measureIdentifiers searches for the identifiers in each form.
func (m *Evaluator) measureIdentifiers(ctx context.Context, identifiers []eval.Identifier, skipped map[string]int,
	missed *[]queryResult) (byForm [formCount][]queryResult, err error) {
	for _, id := range identifiers {
		databases, ok := m.databasesFor(id.Set)
		if !ok {
			skipped[id.Set]++
			continue
		}
		for form, text := range [formCount]string{id.Name, id.Last(), id.Words()} {
			q := eval.Query{Text: text, Set: id.Set,
				Targets: []eval.Target{{Page: id.Page, Anchor: id.Anchor, Grade: 1}}}
			r, err := m.evaluate(ctx, databases, &q)
			if err != nil {
				return byForm, err
			}
			byForm[form] = append(byForm[form], r)
			if form == fullName && r.Section.Success1 == 0 {
				*missed = append(*missed, r)
			}
		}
	}
	return byForm, nil
}

func scoresOf(results []queryResult) Scores {
	var s Scores
	var pages, sections []eval.Measures
	var times []float64
	for _, r := range results {
		pages, sections = append(pages, r.Page), append(sections, r.Section)
		times = append(times, r.Millis)
	}
	s.Page, s.Section = eval.Mean(pages), eval.Mean(sections)
	slices.Sort(times)
	s.Latency = latency{percentile(times, .5), percentile(times, .9), percentile(times, .99)}
	return s
}

func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

// identifierScoresOf averages over one set, or over all sets if set is "".
func identifierScoresOf(byForm [formCount][]queryResult, set string) *IdentifierScores {
	var means [formCount]eval.Measures
	for form, results := range byForm {
		var all []eval.Measures
		for _, r := range results {
			if set == "" || r.Set == set {
				all = append(all, r.Section)
			}
		}
		means[form] = eval.Mean(all)
	}
	if means[fullName].Queries == 0 {
		return nil
	}
	return &IdentifierScores{means[fullName], means[lastComponent], means[nameWords]}
}

// setsOf lists the sets with results, in order of appearance.
func setsOf(results []queryResult, byForm [formCount][]queryResult) []string {
	var sets []string
	for _, r := range slices.Concat(results, byForm[fullName]) {
		if r.Set != "" && !slices.Contains(sets, r.Set) {
			sets = append(sets, r.Set)
		}
	}
	return sets
}
