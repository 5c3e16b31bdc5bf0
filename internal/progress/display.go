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
	Silent Style = iota // not at all
	Lines               // in a log: a line every few seconds, none of work that takes less
	Line                // at a terminal: one line that changes
	Events              // to a program: an Event as JSON on each line
)

// StyleFor is the style that suits a stream: Line where it is a terminal,
// else Lines.
func StyleFor(w io.Writer) Style {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		return Line
	}
	return Lines
}

// interval is the time between two signs of progress: what a person can follow,
// what a log can bear.
var interval = [...]time.Duration{Lines: 3 * time.Second, Line: 100 * time.Millisecond, Events: 250 * time.Millisecond}

// A Display shows progress on a stream. What cannot be written is lost:
// progress is not worth failing for.
type Display struct {
	w     io.Writer
	style Style
	now   func() time.Time
	width func() int

	mu      sync.Mutex
	last    Event
	began   time.Time // the stage
	shown   time.Time // the last sign of progress
	pending bool      // something came after it
	drawnLength   int       // length of the line at the terminal
}

// New makes a display on w. Close must end it.
func New(w io.Writer, style Style) *Display {
	d := &Display{w: w, style: style, now: time.Now, width: func() int { return 80 }}
	if f, ok := w.(*os.File); ok {
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

// Func is what to report progress to.
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

// endStage shows to a program how the stage ended; a person has seen enough.
func (d *Display) endStage() {
	if d.style == Events && d.pending {
		d.show(d.now())
	}
	d.pending = false
}

// Close ends the display: at a terminal its line is wiped.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endStage()
	if d.style == Line && d.drawnLength > 0 {
		d.draw("")
		io.WriteString(d.w, "\r")
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

// draw replaces the terminal's line. Blanks wipe what the old one had more:
// not every console understands the sequence for it.
func (d *Display) draw(line string) {
	// The last column stays free, since some terminals wrap there at once.
	if most := max(d.width()-1, 0); len(line) > most {
		line = line[:most]
	}
	fmt.Fprintf(d.w, "\r%s%s", line, strings.Repeat(" ", max(0, d.drawnLength-len(line))))
	d.drawnLength = len(line)
}

// text is the last event as a line: how much is done, what else is known, how
// fast it goes, and how long it will take.
func (d *Display) text(now time.Time) string {
	e := d.last
	if e.Total <= 0 {
		return e.Stage
	}
	done := min(max(e.Done, 0), e.Total)
	elapsed := now.Sub(d.began)
	telling := elapsed >= time.Second && done > 0 && done < e.Total // not too early, nor too late
	var parts []string
	if e.Failed > 0 || e.Bytes > 0 || e.Passages > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d", done, e.Total))
		for _, n := range []struct {
			n    int64
			what string
		}{{e.Failed, "failed"}, {e.Passages, "passages"}} {
			if n.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
			}
		}
		if e.Bytes > 0 {
			parts = append(parts, fmt.Sprintf("%.1f MB", float64(e.Bytes)/1e6))
		}
		if telling {
			parts = append(parts, fmt.Sprintf("%.0f/s", float64(done)/elapsed.Seconds()))
		}
	} else {
		parts = append(parts, fmt.Sprintf("%d%%", 100*done/e.Total))
	}
	if telling {
		left := time.Duration(float64(elapsed) / float64(done) * float64(e.Total-done))
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	return e.Stage + ": " + strings.Join(parts, ", ")
}
