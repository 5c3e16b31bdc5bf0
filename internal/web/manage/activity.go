package manage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/web"
)

const (
	// homeDecisions and shownDecisions limit the decisions on the home and on their own page.
	homeDecisions  = 5
	shownDecisions = 100
)

// A decisionsView is the data of activity.html and decisions.html.
type decisionsView struct {
	Decisions []activity.Decision
	OnHome    bool
	More      int // older ones
	Marked    int
	Command   string // that measures the marked ones
	LogOff    bool
	NoQuery   bool // queries are not logged
}

// decisions returns at most limit of the hook's last decisions.
func (p *Pages) decisions(limit int) (*decisionsView, error) {
	d, err := activity.LatestIn(p.State)
	if err != nil {
		return nil, err
	}
	v := &decisionsView{Decisions: d.All[:min(limit, len(d.All))], More: max(0, len(d.All)-limit)}
	if c, err := p.Machine.Config(); err == nil { // otherwise the settings show why
		v.LogOff, v.NoQuery = !c.Hook.Log, !c.Hook.LogQueries
	}
	return v, nil
}

// home returns the last decisions for the home page.
func (p *Pages) home(context.Context) (template.HTML, error) {
	v, err := p.decisions(homeDecisions)
	if err != nil {
		return "", err
	}
	v.OnHome = true
	var b bytes.Buffer
	err = p.templates.ExecuteTemplate(&b, "decisions", v)
	return template.HTML(b.String()), err
}

func (p *Pages) activityPage(*http.Request) (*content, error) {
	v, err := p.decisions(shownDecisions)
	if err != nil {
		return nil, err
	}
	labels := activity.Labels{Dir: p.State}
	marked, err := labels.Read()
	v.Marked, v.Command = len(marked), "docsearch eval --queries "+humanize.Argument(labels.Path())
	return &content{web.Page{Title: "Activity"}, "activity.html", v}, err
}

// mark marks a decision as wrong, or takes that back.
func (p *Pages) mark(w http.ResponseWriter, r *http.Request) {
	form, ok := p.form(w, r, "/activity")
	if !ok {
		return
	}
	id := form.Get("id")
	d, err := activity.LatestIn(p.State)
	if err == nil {
		err = d.Mark(id, form.Get("wrong") == "1")
	}
	switch {
	case errors.Is(err, activity.ErrNoDecision):
		p.fail(w, r, "/activity", http.StatusNotFound, err)
	case err != nil:
		p.fail(w, r, "/activity", http.StatusInternalServerError, fmt.Errorf("cannot keep the mark: %w", err))
	default:
		p.site.Redirect(w, r, "/activity#e"+url.PathEscape(id))
	}
}
