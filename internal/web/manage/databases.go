package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/web"
	"github.com/docsearch/docsearch/internal/web/job"
)

// A Database is a database of this machine.
type Database struct {
	Name       string
	Path       string // as the config names it
	Folder     string // of the files; "" if there is no index
	Generation string // of the index; "" if there is none
	Configured bool
	State      string // as "docsearch list" prints it
	IsOK       bool
	Why        string // why the state is not "ok"
	Source     string // its type and location
	Version    string // documented version
	Passages   int
	Documents  int
	Bytes      int64 // of the index
	TextBytes  int64
	Built      time.Time
	Checked    time.Time // last time at which the source was unchanged
	Updatable  bool      // an update may read its source
	Removable  bool
	Mode       config.Mode
	Keywords   []string
}

// A Skipped is a file or page that has no passages.
type Skipped struct{ Name, Reason string }

// The view of all databases is kept for a moment, because to find out whether a database
// is stale means to look at all files of its source.
const databasesAge = 5 * time.Second

type databasesCache struct {
	reading parallel.Shared[[]Database] // by changes

	mu      sync.Mutex // not held while databases are read
	changes int        // calls of forget
	at      time.Time
	all     []Database
}

// forget makes the next page look at the databases again.
func (c *databasesCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
	c.changes++
}

// list returns the databases, which callers must not change. Pages share one attempt to
// read them, unless forget was called after it began.
func (p *Pages) list(ctx context.Context) ([]Database, error) {
	c := &p.databases
	c.mu.Lock()
	all, changes, fresh := c.all, c.changes, !c.at.IsZero() && time.Since(c.at) < databasesAge
	c.mu.Unlock()
	if fresh {
		return all, nil
	}
	return c.reading.Do(ctx, fmt.Sprint(changes), func(ctx context.Context) ([]Database, error) {
		all, err := p.Machine.Databases(ctx)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.changes == changes {
			c.at, c.all = time.Now(), all
		}
		return all, nil
	})
}

// find returns the database with a path, which identifies it.
func (p *Pages) find(ctx context.Context, path string) (*Database, error) {
	all, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(d Database) bool { return d.Path == path })
	if i < 0 {
		return nil, errNoDatabase
	}
	d := all[i]
	return &d, nil
}

// errNoDatabase is no fault: another page or command may have removed the database.
var errNoDatabase = errors.New("database not found; it may have been removed")

// A databasesView is the data of databases.html.
type databasesView struct {
	Databases []Database
	Jobs      []jobView
}

func (p *Pages) databasesPage(r *http.Request) (*content, error) {
	all, err := p.list(r.Context())
	if err != nil {
		return nil, err
	}
	return &content{web.Page{Title: "Databases"}, "databases.html", databasesView{all, p.jobViews()}}, nil
}

// maxSkipped is the number of skipped files on a page.
const maxSkipped = 500

// A detailsView is the data of details.html.
type detailsView struct {
	Database
	Browse  string    // address of its pages; "": it has none
	Skipped []Skipped // the first maxSkipped
	More    int       // others
	Problem string    // why Skipped cannot be read; "" if it can
	Jobs    []jobView
}

func (p *Pages) detailsPage(r *http.Request) (*content, error) {
	d, err := p.find(r.Context(), r.URL.Query().Get("path"))
	if err != nil {
		return nil, err
	}
	v := detailsView{Database: *d, Jobs: p.jobViews()}
	if d.Generation != "" {
		v.Browse = p.site.Base() + "/browse?" + url.Values{"db": {d.Name}}.Encode()
		if v.Skipped, err = p.Machine.Skipped(d); err != nil {
			v.Problem = err.Error()
		}
		if v.More = len(v.Skipped) - maxSkipped; v.More > 0 {
			v.Skipped = v.Skipped[:maxSkipped]
		}
	}
	return &content{web.Page{Title: d.Name}, "details.html", v}, nil
}

func statusOf(err error) int {
	if errors.Is(err, errNoDatabase) {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// A jobView is a job on the pages.
type jobView struct {
	job.Job
	Running bool
	Percent int // 0 to 100; -1 if unknown
	Checks  []Check
	Text    []string // lines of output
}

func (p *Pages) jobViews() []jobView {
	var views []jobView
	for _, j := range p.jobs.Jobs() {
		if j.Subject != doctorSubject {
			views = append(views, newJobView(j))
		}
	}
	return views
}

func newJobView(j job.Job) jobView {
	v := jobView{Job: j, Running: j.State == job.Running, Percent: -1}
	if s := j.Stage; s.Total > 0 {
		v.Percent = int(100 * min(max(s.Done, 0), s.Total) / s.Total)
	}
	for _, line := range j.Lines {
		if c, ok := parseCheck(line); ok {
			v.Checks = append(v.Checks, c)
		} else {
			v.Text = append(v.Text, line)
		}
	}
	return v
}

// removePage asks before a database is removed.
func (p *Pages) removePage(r *http.Request) (*content, error) {
	d, err := p.find(r.Context(), r.URL.Query().Get("path"))
	if err != nil {
		return nil, err
	}
	return &content{Page: web.Page{Title: "Remove " + d.Name}, template: "remove.html", data: d}, nil
}

// databaseForm returns a form and the database that it is about. If there is none, it answers
// the request.
func (p *Pages) databaseForm(w http.ResponseWriter, r *http.Request) (form url.Values, d *Database, ok bool) {
	if form, ok = p.form(w, r, "/databases"); !ok {
		return nil, nil, false
	}
	d, err := p.find(r.Context(), form.Get("path"))
	if err != nil {
		p.fail(w, r, "/databases", statusOf(err), err)
	}
	return form, d, err == nil
}

// change returns a handler that starts a job for a database of the list: update, build,
// or remove.
func (p *Pages) change(command string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, d, ok := p.databaseForm(w, r)
		if !ok {
			return
		}
		args := map[string][]string{"update": {"update"}, "build": {"index", "build"},
			"remove": {"index", "remove", "--yes"}}[command]
		p.startJob(w, r, "/databases", command+" "+d.Name, d.Path, append(args, "--", d.Path)...)
	}
}

// addDatabase builds a new database: from a recipe, which is set up, or from a source.
func (p *Pages) addDatabase(w http.ResponseWriter, r *http.Request) {
	form, ok := p.form(w, r, "/databases")
	if !ok {
		return
	}
	recipe, source, keyword := strings.TrimSpace(form.Get("recipe")), strings.TrimSpace(form.Get("source")),
		strings.TrimSpace(form.Get("keyword"))
	args := []string{"setup", "--yes", "--no-install", "--"}
	switch {
	case recipe != "" && source == "" && keyword == "":
		args = append(args, recipe)
	case recipe == "" && source != "" && keyword != "":
		args = append(args, keyword, source)
	default:
		p.fail(w, r, "/databases", http.StatusBadRequest,
			errors.New("enter the name of a recipe, or a keyword and a source"))
		return
	}
	name := cmp.Or(recipe, keyword)
	p.startJob(w, r, "/databases", "set up "+name, "setup "+name, args...)
}

// modes are the modes of a database in words.
var modes = [...]mode{
	{"", "Answer if it can, otherwise point to the documentation (default)"},
	{config.ModeAnswer, "Answer with the passages, or else let the web search run"},
	{config.ModeRedirect, "Deny, and point to the documentation"},
	{config.ModeAdvise, "Let the web search run, and mention the documentation"},
	{config.ModeOff, "Do nothing"},
}

type mode struct {
	Value config.Mode
	Title string
}

// Modes lists the choices of the form.
func (detailsView) Modes() []mode { return modes[:] }

// KeywordList returns the keywords as the form shows them.
func (v detailsView) KeywordList() string { return strings.Join(v.Keywords, ", ") }

// setDatabase changes the mode and the keywords of a database of the config.
func (p *Pages) setDatabase(w http.ResponseWriter, r *http.Request) {
	form, d, ok := p.databaseForm(w, r)
	if !ok {
		return
	}
	back := "/databases/details?" + url.Values{"path": {d.Path}}.Encode()
	var keywords []string
	for k := range strings.SplitSeq(form.Get("keywords"), ",") {
		if k = strings.Join(strings.Fields(k), " "); k != "" {
			keywords = append(keywords, k)
		}
	}
	chosen := config.Mode(form.Get("mode"))
	known := slices.ContainsFunc(modes[:], func(m mode) bool { return m.Value == chosen })
	if !d.Configured || !known || len(keywords) == 0 {
		p.fail(w, r, back, http.StatusBadRequest, errors.New("enter at least one keyword, for a database of the config"))
		return
	}
	if err := p.Machine.SetDatabase(d, chosen, keywords); err != nil {
		p.fail(w, r, back, http.StatusInternalServerError, err)
		return
	}
	p.databases.forget()
	p.site.Redirect(w, r, back+"#settings")
}

// startJob starts a job and sends the browser back to a page, where it is shown.
func (p *Pages) startJob(w http.ResponseWriter, r *http.Request, back, title, subject string, args ...string) {
	_, err := p.jobs.Start(title, subject, args...)
	switch {
	case errors.Is(err, job.ErrBusy), errors.Is(err, job.ErrSubject):
		p.fail(w, r, back, http.StatusConflict, fmt.Errorf("cannot %s: %w", title, err))
	case err != nil:
		p.fail(w, r, back, http.StatusInternalServerError, fmt.Errorf("cannot %s: %w", title, err))
	default:
		p.site.Redirect(w, r, back+"#jobs")
	}
}

func (p *Pages) cancelJob(w http.ResponseWriter, r *http.Request) {
	form, ok := p.form(w, r, "/databases")
	if !ok {
		return
	}
	p.jobs.Cancel(form.Get("id"))
	p.site.Redirect(w, r, "/databases#jobs")
}
