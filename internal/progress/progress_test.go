package progress

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A step is a report at a time.
type step struct {
	at          time.Duration
	stage       string
	done, total int64
}

// play shows steps and returns what was written.
func play(style Style, width int, steps []step) string {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	d := New(&b, style)
	d.now, d.shown = func() time.Time { return now }, now
	d.width = func() int { return width }
	f := d.Func()
	for _, s := range steps {
		now = time.Unix(0, 0).Add(s.at)
		f.Report(s.stage, s.done, s.total)
	}
	d.Close()
	return b.String()
}

var work = []step{
	{0, "reading", 0, 200},
	{time.Second, "reading", 20, 200},
	{2 * time.Second, "reading", 50, 200},
	{2*time.Second + 10*time.Millisecond, "reading", 51, 200},
	{4 * time.Second, "reading", 100, 200},
	{5 * time.Second, "reading", 200, 200},
	{5 * time.Second, "writing", 0, 0},
	{8 * time.Second, "writing", 0, 0},
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
		{"nobody", Silent, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, play(tt.style, 80, work)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEventsTellHowAStageEnded(t *testing.T) {
	got := play(Events, 80, []step{{0, "a", 0, 3}, {1, "a", 1, 3}, {2, "a", 3, 3}, {3, "b", 0, 1}, {4, "b", 1, 1}})
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
