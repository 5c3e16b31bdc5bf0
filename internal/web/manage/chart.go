package manage

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/activity"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/humanize"
)

// A chart is a plot as the template "chart" draws it; lengths are in pixels. Colors are
// never its only information: each outcome has a pattern, and a table has the values.
type chart struct {
	Title         string
	Width, Height int
	Most          int // value of the longest bar
	Bars          []bar
	Lines         []line
	Labels        []label
}

type bar struct {
	X, Y, Width, Height pixels
	Outcome             eventlog.Outcome
	Title               string
}

// A line is a polyline of a class of the stylesheet.
type line struct {
	Class, Points string
}

type label struct {
	X, Y pixels
	Text string
}

// Pixels are a length in a plot, printed with at most one decimal.
type pixels float64

func (p pixels) String() string { return strconv.FormatFloat(float64(p), 'f', 1, 64) }

const (
	chartWidth  = 720
	rowsCharted = 20
	daysCharted = 120 // the latest days
	nameWidth   = 28
)

// chartDays draws a column per day, from the first to the last, and returns the days
// that it draws.
func chartDays(days map[string]activity.Counter) (chart, []string) {
	const height, foot, labelWidth = 160, 20, 80
	c := chart{Title: "Events by day", Width: chartWidth, Height: height + foot}
	dates := datesOf(days)
	if len(dates) == 0 {
		return c, nil
	}
	for _, date := range dates {
		c.Most = max(c.Most, days[date].Sum())
	}
	scale := height / pixels(max(1, c.Most))
	step := min(chartWidth/len(dates), 48)
	free := 0 // end of the last label
	for i, date := range dates {
		x, top := i*step, pixels(height)
		for _, o := range activity.Outcomes() {
			n := days[date][o]
			if n == 0 {
				continue
			}
			tall := scale * pixels(n)
			top -= tall
			c.Bars = append(c.Bars, bar{pixels(x), max(top, 0), pixels(step - 2), tall, o, date + ": " + humanize.Thousands(n) + " " + string(o)})
		}
		if x >= free && x <= chartWidth-labelWidth {
			c.Labels = append(c.Labels, label{pixels(x), height + foot - 5, date})
			free = x + labelWidth
		}
	}
	return c, dates
}

// datesOf returns the dates from the first day with events to the last one, at most the
// last daysCharted.
func datesOf(days map[string]activity.Counter) []string {
	known := slices.Sorted(maps.Keys(days))
	if len(known) == 0 {
		return nil
	}
	last, err := time.Parse(time.DateOnly, known[len(known)-1])
	if err != nil {
		return nil // a year with five digits
	}
	var dates []string
	for at := last; len(dates) < daysCharted; at = at.AddDate(0, 0, -1) {
		date := at.Format(time.DateOnly)
		if date < known[0] {
			break
		}
		dates = append(dates, date)
	}
	slices.Reverse(dates)
	return dates
}

// chartRows draws a row per name.
func chartRows(title string, names []string, rows map[string]activity.Counter) chart {
	const step, left, right = 24, 200, 60
	c := chart{Title: title, Width: chartWidth, Height: step * len(names)}
	for _, name := range names {
		c.Most = max(c.Most, rows[name].Sum())
	}
	scale := (chartWidth - left - right) / pixels(max(1, c.Most))
	for i, name := range names {
		y, end := pixels(i*step), pixels(left)
		for _, o := range activity.Outcomes() {
			n := rows[name][o]
			if n == 0 {
				continue
			}
			long := scale * pixels(n)
			c.Bars = append(c.Bars, bar{end, y + 2, long, step - 4, o, name + ": " + humanize.Thousands(n) + " " + string(o)})
			end += long
		}
		c.Labels = append(c.Labels, label{0, y + 16, shorten(name)}, label{end + 5, y + 16, humanize.Thousands(rows[name].Sum())})
	}
	return c
}

// shorten shortens a name to the space left of a row.
func shorten(name string) string {
	runes := []rune(name)
	if len(runes) <= nameWidth {
		return name
	}
	return string(runes[:nameWidth-3]) + "..."
}

// chartConfidence draws the share of queries that reach a confidence, for two samples in
// ascending order, and a threshold.
func chartConfidence(own, others []float64, threshold float64) chart {
	const height, left, foot = 200, 48, 40
	width := chartWidth - left - 16
	c := chart{Title: "Share of test queries that reach a confidence", Width: chartWidth, Height: height + foot}
	x := func(confidence float64) pixels { return left + pixels(confidence)*pixels(width) }
	y := func(share float64) pixels { return 8 + pixels(1-share)*(height-8) }
	curve := func(class string, sample []float64) {
		points := ""
		for i := 0; i <= 100; i++ {
			at := float64(i) / 100
			points += fmt.Sprintf("%v,%v ", x(at), y(reaching(sample, at)))
		}
		c.Lines = append(c.Lines, line{class, points})
	}
	c.Lines = append(c.Lines,
		line{"axis", fmt.Sprintf("%v,%v %v,%v %v,%v", x(0), y(1), x(0), y(0), x(1), y(0))},
		line{"threshold", fmt.Sprintf("%v,%v %v,%v", x(threshold), y(0), x(threshold), y(1))})
	curve("own", own)
	curve("others", others)
	for i := 0; i <= 10; i += 2 {
		at := float64(i) / 10
		c.Labels = append(c.Labels, label{x(at) - 8, height + 16, fmt.Sprintf("%.1f", at)}, label{4, y(at) + 4, fmt.Sprintf("%.0f%%", 100*at)})
	}
	c.Labels = append(c.Labels,
		label{x(threshold) + 4, 20, fmt.Sprintf("threshold %.2f", threshold)},
		label{left, height + 34, "confidence. Solid line: queries from the database's own text. Dashed line: queries about other subjects."})
	return c
}

// reaching returns the share of an ascending sample that is at least a value.
func reaching(sample []float64, value float64) float64 {
	if len(sample) == 0 {
		return 0
	}
	at, _ := slices.BinarySearch(sample, value)
	return float64(len(sample)-at) / float64(len(sample))
}
