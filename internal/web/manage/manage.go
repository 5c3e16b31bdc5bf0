// Package manage serves the pages that show and change this machine's docsearch: the
// activity of the hook, the databases, and the settings. Only "docsearch web" on loopback
// serves them; the server of a team does not.
//
// Package web checks the requests. Each change is a POST request of a form and works
// without script. While a job runs, the script of package web fetches the page again.
package manage

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/web"
	"github.com/docsearch/docsearch/internal/web/job"
)

//go:embed templates
var files embed.FS

// A Machine is what the pages show, other than the event log.
type Machine interface {
	// Config returns the active config.
	Config() (config.Config, error)
	// Databases lists the databases of the config and of the data folder.
	Databases(ctx context.Context) ([]Database, error)
	// Skipped returns the files and pages of a database that have no passages.
	Skipped(d *Database) ([]Skipped, error)
	// SetDatabase changes the mode and the keywords of a database of the config.
	SetDatabase(d *Database, mode config.Mode, keywords []string) error
	// SetLogQueries decides whether the event log keeps the queries of web searches.
	SetLogQueries(on bool) error
	// Settings returns the settings and their problems.
	Settings() (*Settings, error)
}

// Options configure the pages.
type Options struct {
	Machine Machine
	State   string   // folder of the event log
	Program string   // docsearch, which runs the jobs
	Env     []string // of the jobs
}

// Pages serves the pages. The caller must call Close.
type Pages struct {
	Options
	site      *web.Server
	jobs      *job.Runner
	templates *template.Template

	databases databasesCache
}

// New adds the pages to a server, which must not serve yet.
func New(site *web.Server, o Options) (*Pages, error) {
	templates, err := parseTemplates(site.Base())
	if err != nil {
		return nil, err
	}
	p := &Pages{Options: o, site: site, templates: templates}
	p.jobs = job.New(o.Program, slices.Concat(o.Env, []string{progress.Variable + "=json"}), func(ended bool) {
		if ended {
			p.databases.forget()
		}
	})
	p.register()
	site.Aside = p.home
	return p, nil
}

// Close ends the jobs.
func (p *Pages) Close() { p.jobs.Close() }

func (p *Pages) register() {
	p.site.AddSection("/activity", "Activity")
	p.site.AddSection("/databases", "Databases")
	p.site.AddSection("/settings", "Settings")
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
		p.site.HandleFunc("GET "+page.path, p.page(page.section, page.source))
	}
	p.site.HandleFunc("POST /activity/mark", p.mark)
	p.site.HandleFunc("POST /databases/add", p.addDatabase)
	for _, command := range []string{"update", "build", "remove"} {
		p.site.HandleFunc("POST /databases/"+command, p.change(command))
	}
	p.site.HandleFunc("POST /databases/settings", p.setDatabase)
	p.site.HandleFunc("POST /settings/log", p.setLogQueries)
	p.site.HandleFunc("POST /jobs/cancel", p.cancelJob)
	p.site.HandleFunc("POST /settings/check", p.runDoctor)
}

// parseTemplates returns the templates of the pages. Their links begin with base.
func parseTemplates(base string) (*template.Template, error) {
	return template.New("manage").Funcs(template.FuncMap{
		"base":  func() string { return base },
		"count": humanize.Count, "thousands": humanize.Thousands, "size": humanize.Size,
		"age":    func(t time.Time) string { return humanize.Age(time.Since(t)) },
		"at":     func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
		"minute": func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
		"line":   safetext.Line,
	}).ParseFS(files, "templates/*.html")
}

// A content is a page with its template and the data for it.
type content struct {
	web.Page
	template string
	data     any
}

// A source makes the content of a page for a request.
type source func(r *http.Request) (*content, error)

// page returns a handler that shows a content.
func (p *Pages) page(section string, contentOf source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := contentOf(r)
		if err != nil {
			p.fail(w, r, section, statusOf(err), err)
			return
		}
		c.Section = section
		p.render(w, r, c.Page, c.template, c.data)
	}
}

// render answers with a template in the layout of the site.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, page web.Page, name string, data any) {
	var b strings.Builder
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		p.fail(w, r, page.Section, http.StatusInternalServerError, err)
		return
	}
	page.Body = template.HTML(b.String())
	p.site.Render(w, page)
}

// fail answers with an error as a page, which leads back to a page of a section.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, back string, status int, err error) {
	p.site.Fail(w, r, web.Page{Status: status, Section: back}, err)
}

// form reads the form of a POST request and answers if that fails.
func (p *Pages) form(w http.ResponseWriter, r *http.Request, section string) (url.Values, bool) {
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, section, http.StatusBadRequest, fmt.Errorf("cannot read the form: %w", err))
		return nil, false
	}
	return r.PostForm, true
}
