package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxTrees is the number of databases whose first folders and pages the home shows, and
	// treePlaces the number of these.
	maxTrees   = 30
	treePlaces = 8
	// listed is the number of pages or names on a page of a list.
	listed = 200
	// maxRecent is the number of searches that the home shows.
	maxRecent = 8
	// maxNumber is the highest number of a page.
	maxNumber = 1 << 20
)

// A homeView is the data of the home page, without that of the search form.
type homeView struct {
	Databases []databaseView
	Recent    []placeView // searches of this user, the latest first
	Aside     template.HTML
	Problem   string // why there is no Aside
}

// A databaseView is a database on the home page.
type databaseView struct {
	Name, Description, Version string
	Browse, Names              string // addresses; empty: the database is on another server
	Places                     []placeView
	More                       int // places that are not shown
	Problem                    string
}

// A placeView is a link with a remark.
type placeView struct{ Name, Link, Remark string }

// home lists the databases with the first places of their trees.
func (s *Site) home(ctx context.Context) (*homeView, error) {
	end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	v := &homeView{}
	for i, e := range s.Catalog.Entries(ctx) {
		d := databaseView{Name: e.Label(), Description: cut(safetext.Line(e.Description), maxLabel), Version: safetext.Line(e.Version)}
		if e.Remote == nil {
			b := browser{s.base, e.Name}
			d.Browse, d.Names = b.folder("", 1), b.names('a', 1)
			if i < maxTrees {
				d.addPlaces(ctx, s.Catalog, b)
			}
		}
		v.Databases = append(v.Databases, d)
	}
	for _, query := range s.recent.list() {
		v.Recent = append(v.Recent, placeView{Name: safetext.Line(query), Link: s.base + "/?" + url.Values{"q": {query}}.Encode()})
	}
	if s.Aside != nil {
		if v.Aside, err = s.Aside(ctx); err != nil {
			v.Problem = safetext.Line(err.Error())
		}
	}
	return v, ctx.Err()
}

// addPlaces adds the first folders and pages of the database's tree.
func (d *databaseView) addPlaces(ctx context.Context, c *mcpserver.Catalog, b browser) {
	_, contents, err := c.Contents(ctx, b.database, "", 0, treePlaces)
	if err != nil {
		d.Problem = safetext.Line(err.Error())
		return
	}
	d.Places = append(b.folders(contents), b.pages(contents)...)
	d.More = contents.Total - len(d.Places)
}

// recentSearches are the searches of a user. Only the memory of the server has them.
type recentSearches struct {
	mu      sync.Mutex
	queries []string // the latest first
}

// add adds a query, unless it is empty or r is nil.
func (r *recentSearches) add(query string) {
	if r == nil || query == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(r.queries), func(q string) bool { return q == query })
	r.queries = append([]string{query}, others[:min(len(others), maxRecent-1)]...)
}

// list returns the queries, which callers must not change.
func (r *recentSearches) list() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queries
}

// A browser makes the addresses of a database's lists.
type browser struct{ base, database string }

func (b browser) folder(folder string, page int) string {
	return b.address("/browse", "in", folder, page)
}

func (b browser) names(initial byte, page int) string {
	return b.address("/names", "initial", string(rune(initial)), page)
}

func (b browser) address(path, name, value string, page int) string {
	values := url.Values{"db": {b.database}}
	if value != "" {
		values.Set(name, value)
	}
	if page > 1 {
		values.Set("page", strconv.Itoa(page))
	}
	return b.base + path + "?" + values.Encode()
}

// read returns the address of a document or passage.
func (b browser) read(ref, fragment string) string {
	return b.base + "/read?" + url.Values{"db": {b.database}, "ref": {ref}}.Encode() + fragment
}

func (b browser) folders(c *index.Contents) (all []placeView) {
	for _, f := range c.Folders {
		all = append(all, placeView{cut(safetext.Line(f.Name), maxLabel), b.folder(c.Folder+f.Name, 1), humanize.Count(f.Pages, "page")})
	}
	return all
}

func (b browser) pages(c *index.Contents) (all []placeView) {
	for _, p := range c.Pages {
		ref := p.Key
		if !isWebURL(ref) {
			ref = p.ID // a file's path is not for the address bar
		}
		all = append(all, placeView{cut(safetext.Line(p.Title), maxLabel), b.read(ref, ""), ""})
	}
	return all
}

// A listView is the data of the pages that list a part of a database.
type listView struct {
	Database       string
	Browse         string
	Names          string
	Title          string
	Path           []placeView // folders above, or initials
	Chosen         string      // of Path
	Folders        []placeView
	Places         []placeView
	Empty          string // why there are no places
	Previous, Next string // addresses; empty: none
	Part, Parts    int
}

// newList returns a list of which first and the pages of listed items before it are not shown.
func (b browser) newList(e mcpserver.Entry, page, total int, address func(page int) string) *listView {
	v := &listView{Database: e.Label(), Browse: b.folder("", 1), Names: b.names('a', 1), Part: page + 1, Parts: (total + listed - 1) / listed}
	if v.Part > 1 {
		v.Previous = address(v.Part - 1)
	}
	if v.Part < v.Parts {
		v.Next = address(v.Part + 1)
	}
	return v
}

// browsePage lists the folders and pages of a part of a database:
//
//	db    database
//	in    folder, see index.Contents
//	page  number of the list's page, from 1
func (s *Site) browsePage(w http.ResponseWriter, r *http.Request) error {
	form := r.URL.Query()
	page, err := pageNumber(form, 0)
	if err != nil {
		return err
	}
	end, err := s.begin(r.Context())
	if err != nil {
		return err
	}
	defer end()
	e, c, err := s.Catalog.Contents(r.Context(), form.Get("db"), form.Get("in"), page*listed, listed)
	if err != nil {
		return listError(form.Get("db"), err)
	}
	if len(c.Folders)+len(c.Pages) == 0 {
		return httpError{http.StatusNotFound, fmt.Errorf("the database %s has no pages in %q", e.Label(), cut(form.Get("in"), maxLabel))}
	}
	b := browser{s.base, e.Name}
	v := b.newList(e, page, c.Total, func(n int) string { return b.folder(c.Folder, n) })
	v.Title = "Pages of " + e.Label()
	v.Path = append(v.Path, placeView{Name: cut(safetext.Line(strings.TrimSuffix(c.Root, "/")), maxLabel), Link: v.Browse})
	if v.Path[0].Name == "" {
		v.Path[0].Name = e.Label()
	}
	for at := 0; at < len(c.Folder); {
		name := c.Folder[at : at+strings.IndexByte(c.Folder[at:], '/')+1]
		at += len(name)
		v.Path = append(v.Path, placeView{Name: cut(safetext.Line(strings.TrimSuffix(name, "/")), maxLabel), Link: b.folder(c.Folder[:at], 1)})
	}
	v.Chosen = v.Path[len(v.Path)-1].Link
	v.Folders, v.Places = b.folders(c), b.pages(c)
	return s.render(w, Page{Title: v.Title, Section: "/"}, "list.html", v)
}

// namesPage lists the names that a database defines:
//
//	db       database
//	initial  of the names, see index.Names
//	page     number of the list's page, from 1
func (s *Site) namesPage(w http.ResponseWriter, r *http.Request) error {
	form := r.URL.Query()
	page, err := pageNumber(form, 0)
	if err != nil {
		return err
	}
	end, err := s.begin(r.Context())
	if err != nil {
		return err
	}
	defer end()
	initial := append([]byte(strings.ToLower(form.Get("initial"))), 'a')[0]
	e, n, err := s.Catalog.Names(r.Context(), form.Get("db"), initial, page*listed, listed)
	if err != nil {
		return listError(form.Get("db"), err)
	}
	b := browser{s.base, e.Name}
	v := b.newList(e, page, n.Total, func(page int) string { return b.names(n.Initial, page) })
	v.Title = "Names in " + e.Label() + ", A to Z"
	for i := range len(n.Initials) {
		v.Path = append(v.Path, placeView{Name: strings.ToUpper(n.Initials[i : i+1]), Link: b.names(n.Initials[i], 1)})
	}
	v.Chosen = b.names(n.Initial, 1)
	for _, x := range n.Names {
		v.Places = append(v.Places, placeView{cut(safetext.Line(x.Name), maxLabel), b.read(x.ID, "#passage"), cut(safetext.Line(x.Page), maxLabel)})
	}
	if len(v.Places) == 0 {
		v.Empty = "The documentation defines no names here, such as functions, commands and options."
	}
	return s.render(w, Page{Title: v.Title, Section: "/"}, "list.html", v)
}

// pageNumber returns the page number of a form, from 0, or else the default.
func pageNumber(form url.Values, number int) (int, error) {
	if n := form.Get("page"); n != "" {
		var err error
		if number, err = strconv.Atoi(n); err != nil || number < 1 {
			return 0, httpError{http.StatusBadRequest, fmt.Errorf("invalid page %q: want a number", cut(n, maxLabel))}
		}
		number = min(number, maxNumber) - 1
	}
	return number, nil
}

func listError(database string, err error) error {
	switch {
	case errors.Is(err, mcpserver.ErrNoDatabase):
		return errGone(database)
	case errors.Is(err, mcpserver.ErrRemote):
		return httpError{http.StatusNotFound, err}
	}
	return err
}

func errGone(database string) error {
	return httpError{http.StatusNotFound, fmt.Errorf("database %q not found: it was removed or renamed", cut(database, maxLabel))}
}
