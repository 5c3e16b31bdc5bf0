package manage

import (
	"html/template"
	"io"
	"time"

	"github.com/docsearch/docsearch/internal/activity"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/web"
)

// A reportView is the part of the activity that the page and its static export share.
type reportView struct {
	*activity.Summary
	From, To, Made string
	Key            []eventlog.Outcome
	Days           chart
	DayRows        tableView
	Tables         []tableView
	AfterDenials   []rowView
	Frequent       []activity.Question
}

// A tableView is a table of counters with its plot.
type tableView struct {
	Title string
	Head  []eventlog.Outcome
	Rows  []rowView
	Plot  chart
}

type rowView struct {
	Name  string
	Cells []string
}

// questionsShown is the number of questions that nothing answered on the pages.
const questionsShown = 20

func newReportView(s *activity.Summary, now time.Time) reportView {
	v := reportView{Summary: s, Made: now.Local().Format(time.DateTime), Frequent: s.Frequent(questionsShown)}
	if s.Events == 0 {
		return v
	}
	v.From, v.To = s.First.Local().Format(time.DateOnly), s.Last.Local().Format(time.DateOnly)
	v.Key = activity.UsedOutcomes(map[string]activity.Counter{"": s.Outcomes})
	var dates []string
	v.Days, dates = chartDays(s.Days)
	v.DayRows = newTable("By day", dates, s.Days)
	for _, name := range s.SortedReactions() {
		r := s.Reactions[name]
		v.AfterDenials = append(v.AfterDenials, rowView{name, formatAll(r.Denied, r.Retried, r.Searched, r.Neither)})
	}
	for _, t := range []struct {
		title string
		rows  map[string]activity.Counter
	}{{"By call", s.Calls}, {"By database", s.Databases}, {"By rule", s.Rules}} {
		if len(t.rows) == 0 {
			continue
		}
		names := activity.SortedCounters(t.rows)
		table := newTable(t.title, names, t.rows)
		table.Plot = chartRows(t.title, names[:min(len(names), rowsCharted)], t.rows)
		v.Tables = append(v.Tables, table)
	}
	return v
}

// newTable returns a table with a row per name and a column per outcome that occurs.
func newTable(title string, names []string, rows map[string]activity.Counter) tableView {
	t := tableView{Title: title, Head: activity.UsedOutcomes(rows)}
	for _, name := range names {
		var cells []int
		for _, o := range t.Head {
			cells = append(cells, rows[name][o])
		}
		t.Rows = append(t.Rows, rowView{name, formatAll(cells...)})
	}
	return t
}

func formatAll(numbers ...int) []string {
	var all []string
	for _, n := range numbers {
		all = append(all, humanize.Thousands(n))
	}
	return all
}

// Export writes the activity as one page that needs no server and loads nothing: the
// report of the activity page with the stylesheet of the site.
func Export(w io.Writer, s *activity.Summary, now time.Time) error {
	templates, err := parseTemplates("")
	if err != nil {
		return err
	}
	return templates.ExecuteTemplate(w, "export.html", struct {
		reportView
		Style template.CSS
	}{newReportView(s, now), template.CSS(web.Stylesheet())})
}

// UnmatchedList returns the groups of searches that match no database.
func (v reportView) UnmatchedList() activity.UnansweredList {
	return activity.UnansweredList{Groups: v.Unmatched, Alone: v.Alone}
}

func meaning(o eventlog.Outcome) string {
	switch o {
	case eventlog.Answered:
		return "denied, with passages of a database"
	case eventlog.Redirected:
		return "denied, with the search call"
	case eventlog.Denied:
		return "denied by a rule"
	case eventlog.Prompted:
		return "a rule asked the user"
	case eventlog.Context:
		return "ran as usual, with added context"
	case eventlog.Retried:
		return "ran as usual, because it was denied before"
	case eventlog.Unanswered:
		return "ran on the web: no matching database answers it"
	case eventlog.Unmatched:
		return "ran on the web: no database matches"
	case eventlog.Consulted:
		return "search of local documentation by other means"
	}
	return "call of docsearch's own tools"
}

// A pattern distinguishes the bars of an outcome without color: the path of a tile of 8
// pixels.
type pattern struct {
	Outcome eventlog.Outcome
	Path    string
}

// patterns returns the patterns of the outcomes. That of answered is plain.
func patterns() []pattern {
	return []pattern{
		{eventlog.Redirected, "M0 8L8 0M-2 2L2 -2M6 10L10 6"},
		{eventlog.Denied, "M0 0L8 8M-2 6L2 10M6 -2L10 2"},
		{eventlog.Prompted, "M0 4H8"},
		{eventlog.Context, "M4 0V8"},
		{eventlog.Retried, "M0 4H8M4 0V8"},
		{eventlog.Unanswered, "M0 8L8 0M0 0L8 8"},
		{eventlog.Unmatched, "M3 4H5"},
		{eventlog.Allowed, "M0 2H8M0 6H8"},
		{eventlog.Consulted, "M2 0V8M6 0V8"},
	}
}
