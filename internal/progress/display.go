package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// A Style is how a Display shows progress.
type Style int

const (
	Silent Style = iota // no output
	Lines               // for logs: one line every few seconds, none for shorter work
	Line                // for terminals: one line that is overwritten
	Events              // for programs: one Event per line, as JSON
)

// Variable is the environment variable that selects Events if it is "json".
const Variable = "DOCSEARCH_PROGRESS"

// StyleFor returns the style for a stream: Events if the environment selects it, Line for
// a terminal, otherwise Lines.
func StyleFor(w io.Writer) Style {
	if os.Getenv(Variable) == "json" {
		return Events
	}
	if f := fileOf(w); f != nil && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		return Line
	}
	return Lines
}

// A safeWriter makes control characters of others harmless, see safetext.Writer.
type safeWriter interface {
	io.Writer
	Unwrap() io.Writer
	Own(control string) string
}

// fileOf returns the file to which w writes, or nil.
func fileOf(w io.Writer) *os.File {
	if safe, ok := w.(safeWriter); ok {
		w = safe.Unwrap()
	}
	f, _ := w.(*os.File)
	return f
}

// interval is the minimum time between two updates, by style.
var interval = [...]time.Duration{Lines: 3 * time.Second, Line: 100 * time.Millisecond, Events: 250 * time.Millisecond}

// A Display shows progress on a stream. It ignores write errors, because progress
// is not worth a failure.
type Display struct {
	w     io.Writer
	start string // moves the cursor of a terminal to the start of the line
	style Style
	now   func() time.Time
	width func() int

	mu          sync.Mutex
	last        Event
	began       time.Time // start of the stage
	shown       time.Time // time of the last update
	pending     bool      // last is not shown yet
	drawnLength int       // length of the line on the terminal
}

// New creates a display on w. The caller must call Close.
func New(w io.Writer, style Style) *Display {
	d := &Display{w: w, start: "\r", style: style, now: time.Now, width: func() int { return 80 }}
	if safe, ok := w.(safeWriter); ok {
		d.start = safe.Own(d.start)
	}
	if f := fileOf(w); f != nil {
		d.width = func() int {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
				return columns
			}
			return 80
		}
	}
	d.shown = d.now()
	return d
}

// Func returns the function that reports progress to the display, nil for Silent.
func (d *Display) Func() Func {
	if d.style == Silent {
		return nil
	}
	return d.report
}

func (d *Display) report(e Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	begins := e.Stage != d.last.Stage
	if begins {
		d.endStage()
		d.began = now
	}
	d.last, d.pending = e, true
	if begins && d.style != Lines || now.Sub(d.shown) >= interval[d.style] {
		d.show(now)
	}
}

// endStage shows the last event of a stage to a program. A person does not need
// it.
func (d *Display) endStage() {
	if d.style == Events && d.pending {
		d.show(d.now())
	}
	d.pending = false
}

// Close ends the display and clears its line on a terminal.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endStage()
	if d.style == Line && d.drawnLength > 0 {
		d.draw("")
		io.WriteString(d.w, d.start)
	}
	d.last = Event{}
}

func (d *Display) show(now time.Time) {
	d.shown, d.pending = now, false
	switch d.style {
	case Events:
		if line, err := json.Marshal(d.last); err == nil {
			d.w.Write(append(line, '\n'))
		}
	case Line:
		d.draw(d.text(now))
	case Lines:
		fmt.Fprintln(d.w, d.text(now))
	}
}

// draw replaces the line on the terminal. It overwrites the rest of a longer old
// line with spaces, because not every console supports the escape sequence for
// that.
func (d *Display) draw(line string) {
	// The last column stays empty, because some terminals wrap after it.
	if limit := max(d.width()-1, 0); len(line) > limit {
		line = line[:limit]
	}
	fmt.Fprintf(d.w, "%s%s%s", d.start, line, strings.Repeat(" ", max(0, d.drawnLength-len(line))))
	d.drawnLength = len(line)
}

// text returns the last event as one line: progress, counts, rate, and estimated
// time left.
func (d *Display) text(now time.Time) string {
	e := d.last
	if e.Total <= 0 {
		return e.Stage
	}
	done := min(max(e.Done, 0), e.Total)
	elapsed := now.Sub(d.began)
	showRate := elapsed >= time.Second && done > 0 && done < e.Total // an estimate is useful
	var parts []string
	if e.Failed > 0 || e.Bytes > 0 || e.Passages > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d", done, e.Total))
		for _, n := range []struct {
			n     int64
			label string
		}{{e.Failed, "failed"}, {e.Passages, "passages"}} {
			if n.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n.n, n.label))
			}
		}
		if e.Bytes > 0 {
			parts = append(parts, fmt.Sprintf("%.1f MB", float64(e.Bytes)/1e6))
		}
		if showRate {
			parts = append(parts, fmt.Sprintf("%.0f/s", float64(done)/elapsed.Seconds()))
		}
	} else {
		parts = append(parts, fmt.Sprintf("%d%%", 100*done/e.Total))
	}
	if showRate {
		left := time.Duration(float64(elapsed) / float64(done) * float64(e.Total-done))
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	return e.Stage + ": " + strings.Join(parts, ", ")
}
