package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	maxQuery  = 1000 // bytes
	maxHits   = 20
	maxLabel  = 240 // bytes of a title or a heading path
	separator = " > "
)

// A Verdict is what the hook would do with a web search.
type Verdict struct {
	Outcome   string // in a sentence
	Reason    string // text of the denial; empty: none
	Context   string // text that comes with the denial or the search; empty: none
	Databases []Consideration
	Problems  []string
}

// A Consideration is why the hook uses a database or not.
type Consideration struct {
	Name  string
	Steps []string // facts, in the order in which the hook learns them
}

// A searchView is the data of the search page.
type searchView struct {
	base              string
	Query, Keywords   string
	Database, Version string // chosen; empty: all
	Agent             bool   // show the search as the agent does it
	Databases         []choice
	Versions          []choice // of the chosen database; nil: it has one
	Status            string   // in a sentence; empty: no query, but databases
	Problems          []string
	Notes             []string
	Hits              []hitView
	Verdict           *Verdict
	Confidence        []confidenceView
}

// A choice is an option of a select element.
type choice struct {
	Value, Label string
	Chosen       bool
}

// A hitView is a result.
type hitView struct {
	Number             int
	Link               string
	Heading, Snippet   template.HTML
	Database, Location string
	Label              string // of the document, such as "release notes"
	Relevance          string
	Parts              []barView
	Terms              []string
}

// A confidenceView explains the confidence in the results of a database.
type confidenceView struct {
	Name                      string
	Confidence, Threshold     string
	Reached                   bool
	Probability, Threshold100 float64
	Odds                      []barView
}

// A barView is a part of a sum, in words and as a bar.
type barView struct {
	Name, Value string
	X, Width    float64 // of the bar, on a scale from 0 to 200 with zero at 100
	Negative    bool
}

func (s *Site) searchPage(w http.ResponseWriter, r *http.Request) error {
	v, err := s.search(r)
	if err != nil {
		return err
	}
	title := "Search"
	if v.Query != "" {
		title = v.Query + " - search"
	}
	return s.render(w, Page{Title: title, Section: "/"}, "search.html", v)
}

// searchResults answers the script with the part of the page below the form.
func (s *Site) searchResults(w http.ResponseWriter, r *http.Request) error {
	v, err := s.search(r)
	if err != nil {
		return err
	}
	html, err := s.part("results.html", v)
	if err == nil {
		write(w, http.StatusOK, html)
	}
	return err
}

// search runs the search of a request.
func (s *Site) search(r *http.Request) (*searchView, error) {
	form := r.URL.Query()
	v := &searchView{base: s.base, Query: cut(strings.TrimSpace(form.Get("q")), maxQuery), Keywords: cut(strings.TrimSpace(form.Get("keywords")), maxQuery),
		Database: form.Get("db"), Version: form.Get("version"), Agent: form.Get("agent") != ""}
	entries := s.Catalog.Entries(r.Context())
	v.choose(entries)
	if v.Query == "" {
		if len(entries) == 0 {
			v.Status = "There are no databases. To add one, choose Databases above."
		}
		return v, nil
	}
	end, err := s.begin(r.Context())
	if err != nil {
		return nil, err
	}
	defer end()
	q := index.Query{Text: v.Query, Keywords: splitKeywords(v.Keywords), TopK: maxHits}
	found, err := s.Catalog.Find(r.Context(), v.names(), q, v.Agent)
	if err != nil {
		if r.Context().Err() == nil {
			v.Status, v.Problems = "The search failed.", []string{safetext.Line(err.Error())}
			return v, nil
		}
		return nil, err
	}
	v.addResults(found)
	if v.Agent && s.Why != nil {
		if v.Verdict, err = s.Why(r.Context(), v.Query); err != nil {
			v.Problems = append(v.Problems, "cannot explain the hook's decision: "+safetext.Line(err.Error()))
		}
	}
	return v, nil
}

// names returns the databases to search; nil: all.
func (v *searchView) names() []string {
	if name := cmp.Or(v.Version, v.Database); name != "" {
		return []string{name}
	}
	return nil
}

// choose fills the lists of databases and of versions. Databases that document versions of
// the same software share an entry of the first list.
func (v *searchView) choose(entries []mcpserver.Entry) {
	var chosen []mcpserver.Entry // versions of the chosen software
	software := map[string]string{}
	for _, e := range entries {
		first := ""
		for _, id := range e.Software {
			if first = software[id]; first != "" {
				break
			}
		}
		if first == "" {
			first = e.Name
			v.Databases = append(v.Databases, choice{e.Name, e.Label(), false})
		}
		for _, id := range e.Software {
			software[id] = first
		}
		if strings.EqualFold(e.Name, v.Database) {
			v.Database = first
		}
		if first == v.Database {
			chosen = append(chosen, e)
		}
	}
	for i := range v.Databases {
		v.Databases[i].Chosen = v.Databases[i].Value == v.Database
	}
	if len(chosen) < 2 {
		v.Version = ""
		return
	}
	for _, e := range chosen {
		v.Versions = append(v.Versions, choice{e.Name, cmp.Or(e.Version, e.Name), e.Name == v.Version})
	}
	if !slices.ContainsFunc(v.Versions, func(c choice) bool { return c.Chosen }) {
		v.Version, v.Versions[0].Chosen = "", true
	}
}

// addResults adds the results to the page.
func (v *searchView) addResults(found *mcpserver.Results) {
	searched := 0
	for _, d := range found.Databases {
		if d.Problem != "" {
			v.Problems = append(v.Problems, safetext.Line(d.Problem))
			continue
		}
		searched++
		for _, n := range d.Notes {
			v.Notes = append(v.Notes, d.Label()+": "+safetext.Line(n))
		}
		if e := d.Explanation; e != nil && len(d.Hits) > 0 {
			v.Confidence = append(v.Confidence, confidenceView{Name: d.Label(), Confidence: fmt.Sprintf("%.2f", d.Confidence), Threshold: fmt.Sprintf("%.2f", e.Threshold),
				Reached: d.Confident, Probability: 100 * e.Probability, Threshold100: 100 * e.Threshold, Odds: bars(e.Odds)})
		}
	}
	prefixes := markable(mcpserver.StemPrefixes(v.Query, splitKeywords(v.Keywords)))
	for i, h := range found.Hits {
		v.Hits = append(v.Hits, v.hit(i, h, &found.Databases[h.From], prefixes))
	}
	v.Status = statusOf(found, searched)
}

// statusOf describes the results in a sentence.
func statusOf(found *mcpserver.Results, searched int) string {
	where := fmt.Sprintf("%d databases", searched)
	if searched == 1 {
		for _, d := range found.Databases {
			if d.Problem == "" {
				where = d.Label()
			}
		}
	}
	scope := ""
	if found.Scoped {
		scope = " The query names it, so only it was searched."
	}
	switch n := len(found.Hits); {
	case searched == 0:
		return "No database was searched."
	case n == 0:
		return "No results in " + where + "." + scope
	case found.Hits[0].Relevance < index.Relevant:
		return fmt.Sprintf("No confident answer in %s. The closest sections:", where) + scope
	case n == 1:
		return "1 result in " + where + "." + scope
	default:
		return fmt.Sprintf("%d results in %s.", n, where) + scope
	}
}

// hit describes a result.
func (v *searchView) hit(i int, h index.Merged, d *mcpserver.Searched, prefixes []string) hitView {
	link := url.Values{"db": {d.Name}, "ref": {h.ID}, "q": {v.Query}}
	if v.Agent {
		link.Set("agent", "1")
	}
	hit := hitView{Number: i + 1, Link: v.base + "/read?" + link.Encode() + "#passage", Heading: markWords(headingOf(&h.Passage), prefixes), Snippet: snippet(h.Text, prefixes),
		Database: d.Label(), Location: cut(safetext.Line(cmp.Or(urlmatch.WebURL(&h.Passage, d.URLs), h.Locator())), maxLabel),
		Label: cut(safetext.Line(h.Label()), maxLabel), Relevance: fmt.Sprintf("%.2f", h.Relevance)}
	if d.Explanation == nil {
		return hit
	}
	n := slices.IndexFunc(d.Hits, func(other index.Hit) bool { return other.Number == h.Number })
	e := d.Explanation.Hits[n]
	hit.Parts = bars(e.Parts)
	for _, t := range e.Terms {
		hit.Terms = append(hit.Terms, describeTerm(t))
	}
	return hit
}

// describeTerm describes the contribution of a term in words.
func describeTerm(t lexical.Reason) string {
	text := safetext.Line(strings.TrimLeft(t.Term, "=@"))
	switch {
	case strings.HasPrefix(t.Term, "="):
		text += " as a whole name"
	case strings.HasPrefix(t.Term, "@"):
		text += " as a definition"
	}
	if t.Synonym {
		text += ", a synonym"
	}
	if t.Asked {
		text += ", a word people ask with"
	}
	if t.Misspelled != "" {
		text += ", corrects " + safetext.Line(t.Misspelled)
	}
	text += fmt.Sprintf(": passage %.2f, page %.2f", t.Words, t.Page)
	for i, f := range t.Fields {
		before := ", "
		if i == 0 {
			before = "; occurs in "
		}
		text += fmt.Sprintf("%s%v %d times", before, f.Field, f.Times)
	}
	return text
}

// bars returns the parts of a sum that are not zero, on a common scale.
func bars(parts []index.Part) []barView {
	most := 0.
	for _, p := range parts {
		most = max(most, math.Abs(p.Adds))
	}
	var all []barView
	for _, p := range parts {
		value := fmt.Sprintf("%+.2f", p.Adds)
		if math.Abs(p.Adds) < 0.005 {
			continue
		}
		b := barView{Name: p.Name, Value: value, X: 100, Width: 100 * math.Abs(p.Adds) / most, Negative: p.Adds < 0}
		if b.Negative {
			b.X -= b.Width
		}
		all = append(all, b)
	}
	return all
}

// headingOf returns the title and the heading path of a passage.
func headingOf(p *passage.Passage) string {
	parts := p.Headings
	if p.Title != "" && (len(parts) == 0 || !strings.EqualFold(parts[0], p.Title)) {
		parts = append([]string{p.Title}, parts...)
	}
	return cut(safetext.Line(cmp.Or(strings.Join(parts, separator), p.Name(), p.Locator())), maxLabel)
}

func splitKeywords(list string) []string {
	var keywords []string
	for k := range strings.SplitSeq(list, ",") {
		if k = strings.TrimSpace(k); k != "" {
			keywords = append(keywords, k)
		}
	}
	return keywords
}

// cut shortens a text to a number of bytes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
