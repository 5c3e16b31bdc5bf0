// Package manage serves the pages that show and change this machine's docsearch: the
// activity of the hook, the databases, and the settings. Only "docsearch web" on loopback
// serves them; the server of a team does not.
//
// The package holds no session: its caller refuses requests without one, from other
// origins and for other hosts, and limits the bodies of requests. Each change is a POST
// request of a form and works without script. A page with a stream receives its changed
// parts while it is open.
package manage

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/activity"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/web/job"
)

//go:embed templates
var files embed.FS

// statusID is the ID of the element of each page that says that its parts are out of
// date.
const statusID = "live-status"

// A Machine is what the pages show, other than the event log.
type Machine interface {
	// Config returns the active config.
	Config() (config.Config, error)
	// Databases lists the databases of the config and of the data folder.
	Databases(ctx context.Context) ([]Database, error)
	// Details adds the skipped files and the curve of the confidence to a database.
	Details(ctx context.Context, d *Database) (*Details, error)
	// Project returns the dependencies of the project in the working directory.
	Project(ctx context.Context) (*Project, error)
	// Settings returns the settings and their problems.
	Settings() (*Settings, error)
}

// Options configure the pages.
type Options struct {
	Machine Machine
	State   string   // folder of the event log
	Program string   // docsearch, which runs the jobs
	Env     []string // of the jobs
	// Render answers a request with a page in the layout of the site.
	Render func(w http.ResponseWriter, r *http.Request, p Page)
	// OpenStream starts a stream of new parts of a page.
	OpenStream func(w http.ResponseWriter, r *http.Request) (Stream, error)
}

// A Page is a page without the layout of the site.
type Page struct {
	Status  int // of the response
	Title   string
	Section string // path of the section: "/activity", "/databases" or "/settings"
	Stream  string // path of the stream of new parts; "" if the page does not change
	Body    template.HTML
}

// Pages serves the pages. The caller must call Close.
type Pages struct {
	Options
	jobs      *job.Runner
	live      *hub
	templates *template.Template

	summaries summaryCache
	databases databasesCache
	details   detailsCache
}

// New returns the pages.
func New(o Options) (*Pages, error) {
	templates, err := parseTemplates()
	if err != nil {
		return nil, err
	}
	p := &Pages{Options: o, templates: templates}
	p.live = newHub(func() string { return stampOf(o.State) })
	p.jobs = job.New(o.Program, slices.Concat(o.Env, []string{progress.Variable + "=json"}), func(ended bool) {
		if ended {
			p.databases.forget()
		}
		p.live.publish()
	})
	return p, nil
}

// Close ends the jobs and the open streams.
func (p *Pages) Close() {
	p.live.close()
	p.jobs.Close()
}

// Register adds the pages to a server.
func (p *Pages) Register(mux *http.ServeMux) {
	for _, page := range []struct {
		path, section string
		source        source
	}{
		{"/activity", "/activity", p.activityPage},
		{"/databases", "/databases", p.databasesPage},
		{"/databases/details", "/databases", p.detailsPage},
		{"/databases/remove", "/databases", p.removePage},
		{"/settings", "/settings", p.settingsPage},
	} {
		mux.HandleFunc("GET "+page.path, p.page(page.section, page.source))
		mux.HandleFunc("GET "+page.path+livePath, p.stream(page.section, page.source))
	}
	mux.HandleFunc("POST /activity/label", p.label)
	mux.HandleFunc("POST /databases/add", p.addDatabase)
	for _, command := range []string{"update", "build", "remove"} {
		mux.HandleFunc("POST /databases/"+command, p.change(command))
	}
	mux.HandleFunc("POST /jobs/cancel", p.cancelJob)
	mux.HandleFunc("POST /settings/check", p.runDoctor)
}

// Navigation returns the sections: their paths and titles.
func Navigation() [][2]string {
	return [][2]string{{"/activity", "Activity"}, {"/databases", "Databases"}, {"/settings", "Settings"}}
}

func parseTemplates() (*template.Template, error) {
	return template.New("manage").Funcs(template.FuncMap{
		"count": humanize.Count, "thousands": humanize.Thousands, "size": humanize.Size, "signed": humanize.Signed, "seconds": humanize.Seconds,
		"age":      func(t time.Time) string { return humanize.Age(time.Since(t)) },
		"at":       func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
		"percent":  func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) },
		"line":     safetext.Line,
		"meaning":  meaning,
		"outcomes": activity.Outcomes,
		"patterns": patterns,
	}).ParseFS(files, "templates/*.html")
}

// render answers with a template in the layout of the site.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, page Page, name string, data any) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		p.fail(w, r, page.Section, http.StatusInternalServerError, err)
		return
	}
	page.Body = template.HTML(b.String())
	if page.Status == 0 {
		page.Status = http.StatusOK
	}
	p.Render(w, r, page)
}

// fail answers with an error as a page.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, section string, status int, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the browser has closed the connection
	}
	var b bytes.Buffer
	page := Page{Status: status, Title: "Error", Section: section}
	if e := p.templates.ExecuteTemplate(&b, "error.html", errorView{safetext.Line(err.Error()), section}); e != nil {
		http.Error(w, err.Error(), status)
		return
	}
	page.Body = template.HTML(b.String())
	p.Render(w, r, page)
}

type errorView struct{ Message, Back string }

// problemText returns an error as HTML.
func problemText(err error) string {
	return `<span class="problem">` + template.HTMLEscapeString(safetext.Line(err.Error())) + `. Reload the page.</span>`
}

// form reads the form of a POST request and answers if that fails.
func (p *Pages) form(w http.ResponseWriter, r *http.Request, section string) (url.Values, bool) {
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, section, http.StatusBadRequest, fmt.Errorf("cannot read the form: %w", err))
		return nil, false
	}
	return r.PostForm, true
}
