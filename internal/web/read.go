package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/ingest/format/code"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// pagePassages is the number of passages on a page. Long documents have several pages.
	pagePassages = 30
	// maxPassage is the number of bytes of a passage on a page. The rest has pages of its
	// own.
	maxPassage = 64 << 10
	maxRef     = 4096
)

// A readView is the data of a page of a document.
type readView struct {
	Database, Title, Label string
	Browse                 string // address of the database's pages
	Source, Location       string // URL, or else where the document is
	Search                 string // address of the search that led here; empty: none
	Passages               []passageView
	Outline                []outlineView
	OutlineCut             bool
	Previous, Next         *neighborView // documents
	PreviousPage, NextPage string        // addresses of the document's pages; empty: none
	Part, Parts            int           // pages of the document
}

// A passageView is a passage of a document.
type passageView struct {
	Anchor, Link string // ID of the element, and address to share
	Name         string
	HTML         template.HTML
	Rest         string // address of the rest of the passage; empty: none
	Mark         string // why the passage is marked; empty: it is not
}

type outlineView struct {
	Name, Link string
	Level      int // from 1 to 4
	Current    bool
}

type neighborView struct{ Title, Link string }

// A reader builds the pages of a document.
type reader struct {
	base  string
	entry mcpserver.Entry
	page  *index.Page
	form  url.Values // of the request
	key   string     // of the document
}

// readPage shows a document, or a part of it:
//
//	db     database
//	ref    passage or document, see index.Ref
//	page   number of the page, from 1; default: the page with the passage
//	at     byte of the passage at which to begin, for a long passage
//	q      search that led here
func (s *Site) readPage(w http.ResponseWriter, r *http.Request) error {
	form := r.URL.Query()
	name, ref := form.Get("db"), form.Get("ref")
	s.recent.add(cut(strings.TrimSpace(form.Get("q")), maxQuery))
	if ref == "" || len(ref) > maxRef {
		return httpError{http.StatusBadRequest, errors.New("the address of this page names no document")}
	}
	number, err := pageNumber(form, -1)
	if err != nil {
		return err
	}
	end, err := s.begin(r.Context())
	if err != nil {
		return err
	}
	defer end()
	entry, page, err := s.Catalog.ReadPage(r.Context(), name, index.Ref{Name: ref}, number, pagePassages)
	switch {
	case errors.Is(err, mcpserver.ErrNoDatabase):
		return errGone(name)
	case errors.Is(err, index.ErrNotFound):
		return httpError{http.StatusNotFound,
			fmt.Errorf("%q is not in the database %s: the documentation may have changed since the search",
				cut(ref, maxLabel), entry.Label())}
	case err != nil:
		return err
	}
	reader := &reader{s.base, entry, page, form, page.Passages[0].Document()}
	v, err := reader.view()
	if err != nil {
		return err
	}
	return s.render(w, Page{Title: v.Title, Section: "/"}, "read.html", v)
}

func (r *reader) view() (*readView, error) {
	first := &r.page.Passages[0]
	v := &readView{Database: r.entry.Label(), Browse: r.base + "/browse?" + url.Values{"db": {r.entry.Name}}.Encode(), Title: cut(safetext.Line(first.Name()), maxLabel), Label: cut(safetext.Line(first.Label()), maxLabel),
		Part: r.page.First/pagePassages + 1, Parts: (r.page.Total + pagePassages - 1) / pagePassages, OutlineCut: r.page.More}
	v.Location = safetext.Line(cmp.Or(r.key, first.ID))
	if source, _, _ := strings.Cut(urlmatch.WebURL(first, r.entry.URLs), "#"); isWebURL(source) {
		v.Source = source
	}
	if q := r.form.Get("q"); q != "" {
		v.Search = r.base + "/?" + url.Values{"q": {q}}.Encode()
	}
	if at := r.form.Get("at"); at != "" {
		return v, r.addRest(v, at)
	}
	for i := range r.page.Passages {
		v.Passages = append(v.Passages, r.passage(i))
	}
	for _, o := range r.page.Outline {
		v.Outline = append(v.Outline, r.heading(o))
	}
	if v.Part > 1 {
		v.PreviousPage = r.pageLink(v.Part - 1)
	}
	if v.Part < v.Parts {
		v.NextPage = r.pageLink(v.Part + 1)
	}
	v.Previous, v.Next = r.neighbor(r.page.Previous), r.neighbor(r.page.Next)
	return v, nil
}

// passage returns passage i of the page.
func (r *reader) passage(i int) passageView {
	p := &r.page.Passages[i]
	v := passageView{Anchor: fmt.Sprint("p", r.page.First+i+1), Link: r.link(shareRef(r.page.Passages, i), "passage"),
		Name: nameOf(p)}
	if i == r.page.Wanted {
		v.Anchor, v.Mark = "passage", "You came here."
		if r.form.Get("q") != "" {
			v.Mark = "Search result"
		}
	}
	text := p.Text
	if len(text) > maxPassage {
		var rest int
		text, rest = split(text, 0)
		v.Rest = r.restLink(p.ID, rest)
	}
	v.HTML = r.html(p, text)
	return v
}

// isMarkdown reports whether the text of a passage is Markdown, as that of all formats is after
// ingestion. Text files and source code stay as they are.
func isMarkdown(p *passage.Passage) bool {
	ext := strings.ToLower(path.Ext(p.Document()))
	return ext != ".txt" && ext != ".text" && !code.Reads(ext)
}

// html returns the text of a passage as HTML.
func (r *reader) html(p *passage.Passage, text string) template.HTML {
	switch ext := strings.ToLower(path.Ext(p.Document())); {
	case isMarkdown(p):
		return newDocumentRenderer().render(text, r.linkTo)
	case code.Reads(ext):
		return template.HTML(`<pre tabindex="0"><code>` + highlight(text, ext[1:]) + "</code></pre>")
	}
	return plain(text)
}

// addRest adds the part of the wanted passage from byte at.
func (r *reader) addRest(v *readView, at string) error {
	from, err := strconv.Atoi(at)
	if i := r.page.Wanted; err == nil && i >= 0 && from > 0 && from < len(r.page.Passages[i].Text) {
		p := &r.page.Passages[i]
		text, rest := split(p.Text, from)
		part := passageView{Anchor: "passage", Link: r.link(p.ID, "passage"), Name: nameOf(p), HTML: plain(text)}
		if rest < len(p.Text) {
			part.Rest = r.restLink(p.ID, rest)
		}
		v.Passages = []passageView{part}
		return nil
	}
	return httpError{http.StatusNotFound, fmt.Errorf("the passage has no byte %q", cut(at, maxLabel))}
}

// split returns the part of text from a byte to a limit, and its end. It splits no
// characters.
func split(text string, from int) (part string, end int) {
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	end = min(from+maxPassage, len(text))
	for end < len(text) && end > from && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[from:end], end
}

// heading returns an entry of the outline.
func (r *reader) heading(o index.Place) outlineView {
	v := outlineView{Name: cut(safetext.Line(o.Path[len(o.Path)-1]), maxLabel), Level: min(len(o.Path), 4)}
	i := o.Passage - r.page.First
	switch {
	case i < 0 || i >= len(r.page.Passages):
		v.Link = r.link(o.ID, "passage")
	case i == r.page.Wanted:
		v.Link, v.Current = "#passage", true
	default:
		v.Link = fmt.Sprint("#p", o.Passage+1)
	}
	return v
}

func (r *reader) neighbor(d *index.Document) *neighborView {
	if d == nil {
		return nil
	}
	return &neighborView{cut(safetext.Line(d.Title), maxLabel), r.link(cmp.Or(d.Key, d.ID), "")}
}

// link returns the address of a passage or document.
func (r *reader) link(ref, fragment string) string {
	link := r.base + "/read?" + url.Values{"db": {r.entry.Name}, "ref": {ref}}.Encode()
	if fragment != "" {
		link += "#" + fragment
	}
	return link
}

// pageLink returns the address of a page of the document.
func (r *reader) pageLink(n int) string {
	values := url.Values{"db": {r.entry.Name}, "ref": {r.form.Get("ref")}, "page": {strconv.Itoa(n)}}
	if q := r.form.Get("q"); q != "" {
		values.Set("q", q)
	}
	return r.base + "/read?" + values.Encode()
}

// restLink returns the address of the rest of a passage.
func (r *reader) restLink(id string, from int) string {
	return r.base + "/read?" + url.Values{"db": {r.entry.Name}, "ref": {id}, "at": {strconv.Itoa(from)}}.Encode()
}

// linkTo returns the target of a link in the document: a page of this site for a document
// of the database. "" leaves links to other sites as they are.
func (r *reader) linkTo(to string) string {
	target := resolveLink(r.key, to)
	switch {
	case target == "":
		return ""
	case isWebURL(target) && !r.contains(target):
		return target
	case strings.HasPrefix(target, "mailto:"):
		return ""
	}
	return r.link(target, "passage")
}

// contains reports whether the URL is probably one of the database's pages.
func (r *reader) contains(target string) bool {
	if base, err := url.Parse(r.key); err == nil && base.Host != "" {
		u, err := url.Parse(target)
		return err == nil && u.Host == base.Host && (len(r.entry.URLs) == 0 || r.hasPrefix(target))
	}
	return r.hasPrefix(target)
}

func (r *reader) hasPrefix(target string) bool {
	_, target, _ = strings.Cut(target, "://")
	for _, prefix := range r.entry.URLs {
		if _, after, ok := strings.Cut(prefix, "://"); ok {
			prefix = after
		}
		if strings.HasPrefix(target, prefix) {
			return true
		}
	}
	return false
}

// shareRef returns the name by which passage i can be shared: its URL with an anchor if no
// earlier passage has it, since that survives a rebuild, else its ID.
func shareRef(all []passage.Passage, i int) string {
	p := &all[i]
	if !strings.Contains(p.URL, "#") || i > 0 && all[i-1].URL == p.URL {
		return p.ID
	}
	return p.URL
}

// nameOf returns the last heading of a passage, for links to it.
func nameOf(p *passage.Passage) string {
	if n := len(p.Headings); n > 0 {
		return cut(safetext.Line(p.Headings[n-1]), maxLabel)
	}
	return cut(safetext.Line(p.Name()), maxLabel)
}

// isWebURL reports whether a browser can open the URL.
func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
