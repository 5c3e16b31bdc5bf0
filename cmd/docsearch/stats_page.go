package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/eventlog"
)

//go:embed stats.html
var statsPage string

// page renders the statistics as a self-contained HTML page.
func (s *stats) page(now time.Time) ([]byte, error) {
	t, err := template.New("stats").Parse(statsPage)
	if err != nil {
		return nil, err
	}
	var reactions []rowView
	for _, name := range s.sortedReactions() {
		r := s.Reactions[name]
		reactions = append(reactions, rowView{name, []string{thousands(r.Denied), thousands(r.Retried), thousands(r.Searched), thousands(r.Neither)}})
	}
	v := statsView{stats: s, AfterDenials: reactions, Count: count(s.Events, "event"), Made: now.Local().Format(time.DateTime), Tokens: thousandsSigned(s.Saved.Tokens), Time: duration(s.Saved.Seconds)}
	if s.Events > 0 {
		v.From, v.To = day(s.First), day(s.Last)
		v.Days = plotDays(s.Days)
		v.Busiest = thousands(v.Days.Most)
		for _, o := range usedOutcomes(map[string]counter{"": s.Outcomes}) {
			v.Key = append(v.Key, keyView{o, meaning(o)})
		}
	}
	for _, t := range []tableView{{Title: "By call", rows: s.Calls}, {Title: "By database", rows: s.Databases}, {Title: "By rule", rows: s.Rules}} {
		if len(t.rows) > 0 {
			t.fill()
			v.Tables = append(v.Tables, t)
		}
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}

// A statsView is the data of the page template.
type statsView struct {
	*stats
	Count, From, To, Made string
	Key                   []keyView
	Days                  plot
	Busiest               string // day
	Tables                []tableView
	AfterDenials          []rowView
	Tokens, Time          string
}

type keyView struct {
	Outcome eventlog.Outcome
	Means   string
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

// A tableView is a table of counters with its plot.
type tableView struct {
	Title string
	Head  []eventlog.Outcome
	Rows  []rowView
	Plot  plot

	rows map[string]counter
}

type rowView struct {
	Name  string
	Cells []string
}

func (t *tableView) fill() {
	t.Head = usedOutcomes(t.rows)
	names := sortedCounters(t.rows)
	for _, name := range names {
		row := rowView{Name: name}
		for _, o := range t.Head {
			row.Cells = append(row.Cells, thousands(t.rows[name][o]))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Plot = plotRows(names[:min(len(names), rowsPlotted)], t.rows)
}

// A plot is a bar chart; lengths are in pixels.
type plot struct {
	Width, Height int
	Most          int // value of the longest bar
	Bars          []bar
	Labels        []label
}

type bar struct {
	X, Y, Width, Height pixels
	Outcome             eventlog.Outcome
	Title               string
}

type label struct {
	X, Y pixels
	Text string
}

// Pixels are a length in a plot, printed with at most one decimal.
type pixels float64

func (p pixels) String() string { return strconv.FormatFloat(float64(p), 'f', 1, 64) }

const (
	plotWidth   = 720
	rowsPlotted = 20
	daysPlotted = 120 // the latest days
)

// plotDays draws a column per day, from the first to the last.
func plotDays(days map[string]counter) plot {
	const height, foot, labelWidth = 160, 20, 80
	p := plot{Width: plotWidth, Height: height + foot}
	known := slices.Sorted(maps.Keys(days))
	last, err := time.Parse(time.DateOnly, known[len(known)-1])
	if err != nil {
		return p // a year with five digits
	}
	var dates []string
	for at := last; len(dates) < daysPlotted; at = at.AddDate(0, 0, -1) {
		date := at.Format(time.DateOnly)
		if date < known[0] {
			break
		}
		dates = append(dates, date)
	}
	slices.Reverse(dates)
	for _, date := range dates {
		p.Most = max(p.Most, days[date].sum())
	}
	scale := height / pixels(p.Most)
	step := min(plotWidth/len(dates), 48)
	free := 0 // end of the last label
	for i, date := range dates {
		x, top := i*step, pixels(height)
		for _, o := range outcomes() {
			n := days[date][o]
			if n == 0 {
				continue
			}
			tall := scale * pixels(n)
			top -= tall
			p.Bars = append(p.Bars, bar{pixels(x), max(top, 0), pixels(step - 2), tall, o, date + ": " + thousands(n) + " " + string(o)})
		}
		if x >= free && x <= plotWidth-labelWidth {
			p.Labels = append(p.Labels, label{pixels(x), height + foot - 5, date})
			free = x + labelWidth
		}
	}
	return p
}

// plotRows draws a row per name.
func plotRows(names []string, rows map[string]counter) plot {
	const step, left, right = 24, 200, 60
	p := plot{Width: plotWidth, Height: step * len(names)}
	for _, name := range names {
		p.Most = max(p.Most, rows[name].sum())
	}
	scale := (plotWidth - left - right) / pixels(p.Most)
	for i, name := range names {
		y, end := pixels(i*step), pixels(left)
		for _, o := range outcomes() {
			n := rows[name][o]
			if n == 0 {
				continue
			}
			long := scale * pixels(n)
			p.Bars = append(p.Bars, bar{end, y + 2, long, step - 4, o, name + ": " + thousands(n) + " " + string(o)})
			end += long
		}
		p.Labels = append(p.Labels, label{0, y + 16, truncate(printable(name), 28)}, label{end + 5, y + 16, thousands(rows[name].sum())})
	}
	return p
}
