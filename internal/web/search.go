package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index"
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
	Query             string
	Database, Version string // chosen; empty: all
	Databases         []choice
	Versions          []choice // of the chosen database; nil: it has one
	Status            string   // in a sentence; empty: no query, but databases
	Corrected         string   // address of the search with corrected words; empty: none
	Correction        string   // its query
	Problems          []string
	Notes             []string
	Pages             []pageView
	Why               string // address of the search with the hook's decision; empty: it is here, or unknown
	Verdict           *Verdict
	Home              *homeView // nil: there is a query
}

// A choice is an option of a select element.
type choice struct {
	Value, Label string
	Chosen       bool
}

// A pageView is a document with results.
type pageView struct {
	Title              template.HTML
	Database, Location string
	Label              string // of the document, such as "release notes"
	Hits               []hitView

	key string
}

// A hitView is a result: a section of a document.
type hitView struct {
	Number           int // from 1, in the order of the page
	Link             string
	Heading, Snippet template.HTML
}

func (s *Site) searchPage(w http.ResponseWriter, r *http.Request) error {
	v, err := s.search(r)
	if err != nil {
		return err
	}
	title := "Search"
	if v.Query == "" {
		v.Home, err = s.home(r.Context())
	} else {
		title = v.Query + " - search"
		s.recent.add(v.Query)
	}
	if err != nil {
		return err
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
	v := &searchView{base: s.base, Query: cut(strings.TrimSpace(form.Get("q")), maxQuery), Database: form.Get("db"), Version: form.Get("version")}
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
	found, err := s.Catalog.Find(r.Context(), v.names(), index.Query{Text: v.Query, TopK: maxHits})
	if err != nil {
		if r.Context().Err() == nil {
			v.Status, v.Problems = "The search failed.", []string{safetext.Line(err.Error())}
			return v, nil
		}
		return nil, err
	}
	v.addResults(found)
	switch {
	case s.Why == nil:
	case form.Get("why") == "":
		v.Why = v.address(v.Query) + "&why=1"
	default:
		if v.Verdict, err = s.Why(r.Context(), v.Query); err != nil {
			v.Problems = append(v.Problems, "cannot explain the hook's decision: "+safetext.Line(err.Error()))
		}
	}
	return v, nil
}

// address returns the address of a search in the same databases.
func (v *searchView) address(query string) string {
	values := url.Values{"q": {query}}
	for name, value := range map[string]string{"db": v.Database, "version": v.Version} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return v.base + "/?" + values.Encode()
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
	}
	if found.Corrected != "" {
		v.Correction, v.Corrected = safetext.Line(found.Corrected), v.address(found.Corrected)
	}
	prefixes := markable(mcpserver.StemPrefixes(v.Query+" "+found.Corrected, nil))
	for _, h := range found.Hits {
		v.add(h, &found.Databases[h.From], prefixes)
	}
	n := 0
	for _, p := range v.Pages {
		for i := range p.Hits {
			n++
			p.Hits[i].Number = n
		}
	}
	v.Status = statusOf(found, searched, len(v.Pages))
}

// statusOf describes the results in a sentence.
func statusOf(found *mcpserver.Results, searched, pages int) string {
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
	case pages == 1:
		return fmt.Sprintf("%d results on 1 page in %s.", n, where) + scope
	default:
		return fmt.Sprintf("%d results on %d pages in %s.", n, pages, where) + scope
	}
}

// add adds a result to its page. Pages are in the order of their best results.
func (v *searchView) add(h index.Merged, d *mcpserver.Searched, prefixes []string) {
	link := url.Values{"db": {d.Name}, "ref": {h.ID}, "q": {v.Query}}
	hit := hitView{0, v.base + "/read?" + link.Encode() + "#passage", markWords(headingOf(&h.Passage), prefixes), snippet(&h.Passage, prefixes)}
	key := fmt.Sprint(h.From, " ", cmp.Or(h.Document(), h.ID))
	n := slices.IndexFunc(v.Pages, func(p pageView) bool { return p.key == key })
	if n < 0 {
		location, _, _ := strings.Cut(cmp.Or(urlmatch.WebURL(&h.Passage, d.URLs), h.Document()), "#")
		n = len(v.Pages)
		v.Pages = append(v.Pages, pageView{Title: markWords(cut(safetext.Line(h.Name()), maxLabel), prefixes), Database: d.Label(),
			Location: cut(safetext.Line(location), maxLabel), Label: cut(safetext.Line(h.Label()), maxLabel), key: key})
	}
	v.Pages[n].Hits = append(v.Pages[n].Hits, hit)
}

// headingOf returns the heading path of a passage below the title of its document.
func headingOf(p *passage.Passage) string {
	parts := p.Headings
	if len(parts) > 1 && strings.HasPrefix(strings.ToLower(parts[0]), strings.ToLower(p.Name())) {
		parts = parts[1:]
	}
	return cut(safetext.Line(cmp.Or(strings.Join(parts, separator), p.Name())), maxLabel)
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
