package progress

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A step is one report and its time.
type step struct {
	at time.Duration
	Event
}

func at(d time.Duration, stage string, done, total int64) step {
	return step{d, Event{Stage: stage, Done: done, Total: total}}
}

// play reports the steps to a display and returns its output.
func play(style Style, width int, steps []step) string {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	d := New(&b, style)
	d.now, d.shown = func() time.Time { return now }, now
	d.width = func() int { return width }
	f := d.Func()
	for _, s := range steps {
		now = time.Unix(0, 0).Add(s.at)
		f.Show(s.Event)
	}
	d.Close()
	return b.String()
}

var work = []step{
	at(0, "reading", 0, 200),
	at(time.Second, "reading", 20, 200),
	at(2*time.Second, "reading", 50, 200),
	at(2*time.Second+10*time.Millisecond, "reading", 51, 200),
	at(4*time.Second, "reading", 100, 200),
	at(5*time.Second, "reading", 200, 200),
	at(5*time.Second, "writing", 0, 0),
	at(8*time.Second, "writing", 0, 0),
}

func TestDisplay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		style Style
		want  string
	}{
		{"log", Lines, "reading: 50%, 4s left\nwriting\n"},
		{"terminal", Line, "\rreading: 0%\rreading: 10%, 9s left\rreading: 25%, 6s left\rreading: 50%, 4s left\rreading: 100%        \rwriting      \rwriting\r       \r"},
		{"program", Events, `{"stage":"reading","done":0,"total":200}
{"stage":"reading","done":20,"total":200}
{"stage":"reading","done":50,"total":200}
{"stage":"reading","done":100,"total":200}
{"stage":"reading","done":200,"total":200}
{"stage":"writing","done":0,"total":0}
{"stage":"writing","done":0,"total":0}
`},
		{"silent", Silent, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, play(tt.style, 80, work)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDetails(t *testing.T) {
	pages := []step{
		{0, Event{Stage: "fetching", Total: 40}},
		{3 * time.Second, Event{Stage: "fetching", Done: 30, Total: 400, Bytes: 12_340_000}},
		{6 * time.Second, Event{Stage: "fetching", Done: 60, Total: 400, Failed: 2, Bytes: 23_450_000}},
		{9 * time.Second, Event{Stage: "reading", Done: 400, Total: 400, Passages: 1234}},
		{12 * time.Second, Event{Stage: "reading", Done: 400, Total: 400, Passages: 1234}},
	}
	want := "fetching: 30 of 400, 12.3 MB, 10/s, 37s left\nfetching: 60 of 400, 2 failed, 23.4 MB, 10/s, 34s left\n" +
		"reading: 400 of 400, 1234 passages\nreading: 400 of 400, 1234 passages\n"
	if diff := cmp.Diff(want, play(Lines, 80, pages)); diff != "" {
		t.Errorf("in a log (-want +got)\n%s", diff)
	}
	want = `{"stage":"fetching","done":60,"total":400,"failed":2,"bytes":23450000}` + "\n"
	if got := play(Events, 80, pages); !strings.Contains(got, want) {
		t.Errorf("to a program: %q, want %q", got, want)
	}
}

func TestEventsTellHowAStageEnded(t *testing.T) {
	got := play(Events, 80, []step{at(0, "a", 0, 3), at(1, "a", 1, 3), at(2, "a", 3, 3), at(3, "b", 0, 1), at(4, "b", 1, 1)})
	want := `{"stage":"a","done":0,"total":3}
{"stage":"a","done":3,"total":3}
{"stage":"b","done":0,"total":1}
{"stage":"b","done":1,"total":1}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLineFitsTheTerminal(t *testing.T) {
	for _, width := range []int{1, 5, 12} {
		for _, line := range strings.Split(play(Line, width, work), "\r") {
			if len(line) >= width && line != "" {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}

func TestStyleFor(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := StyleFor(f); got != Lines {
		t.Errorf("a file: %v", got)
	}
	if got := StyleFor(new(bytes.Buffer)); got != Lines {
		t.Errorf("a buffer: %v", got)
	}
}

func TestReportFromManyGoroutines(t *testing.T) {
	var b bytes.Buffer
	d := New(&b, Events)
	f := d.Func()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range int64(100) {
				f.Report("stage", i, 100)
			}
		})
	}
	all.Wait()
	d.Close()
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if !strings.HasPrefix(line, `{"stage":"stage"`) || !strings.HasSuffix(line, "}") {
			t.Fatalf("line %q", line)
		}
	}
}

func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := Interruptible(ctx, strings.NewReader("four"))
	p := make([]byte, 2)
	if n, err := r.Read(p); n != 2 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	cancel()
	if n, err := r.Read(p); n != 0 || err != context.Canceled {
		t.Errorf("canceled: read %d bytes, %v", n, err)
	}
}
