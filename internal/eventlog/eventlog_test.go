package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var sample = Event{
	At: time.Date(2026, 1, 2, 2, 54, 5, 0, time.UTC), Host: "claude", Name: "PreToolUse", Tool: "WebSearch",
	Outcome: Answered, Shown: 5120, Databases: []string{"gitlab"}, Confidence: []float64{.871}, Session: Checksum("s", ""), Call: Checksum("s", "", "q"),
}

// The line is the example in the package's doc comment.
func TestFormat(t *testing.T) {
	const want = "f2aebc3e\t4\t1767322445000\tclaude\t9b2c7652\tf3cf225b\tPreToolUse\tWebSearch\tanswered\t5120\t\t\t\tgitlab\t0.871\n"
	if got := string(appendLine(nil, &sample)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAppendAndRead(t *testing.T) {
	long := strings.Repeat("ä", MaxQuery)
	many := make([]string, maxDatabases+3)
	for i := range many {
		many[i] = "db" + strconv.Itoa(i)
	}
	for _, test := range []struct {
		name      string
		give      Event
		want      Event
		unchanged bool
	}{
		{name: "plain", give: sample, unchanged: true},
		{name: "empty", give: Event{At: time.UnixMilli(0)}, unchanged: true},
		{name: "confidence", give: Event{At: time.UnixMilli(1), Session: "0a", Call: "0b", Databases: []string{"a", "b", "c"}, Confidence: []float64{0, .5, 1}}, unchanged: true},
		{name: "rounded", give: Event{At: time.UnixMilli(1), Databases: []string{"a"}, Confidence: []float64{2. / 3}}, want: Event{At: time.UnixMilli(1), Databases: []string{"a"}, Confidence: []float64{.667}}},
		{name: "escapes", give: Event{At: time.UnixMilli(1), Rule: "a\tb\\t", Query: "x\n\r\\", Databases: []string{"", "c,d e"}}, unchanged: true},
		{name: "long", give: Event{At: time.UnixMilli(1), Query: "x" + long}, want: Event{At: time.UnixMilli(1), Query: "x" + long[:MaxQuery-2]}},
		{name: "many", give: Event{At: time.UnixMilli(1), Databases: many}, want: Event{At: time.UnixMilli(1), Databases: many[:maxDatabases]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Log{filepath.Join(t.TempDir(), "made", "on the way")}
			if err := l.Append(&test.give); err != nil {
				t.Fatal(err)
			}
			if test.unchanged {
				test.want = test.give
			}
			got, damaged := events(t, l)
			if diff := cmp.Diff([]Event{test.want}, got, cmpopts.EquateEmpty()); diff != "" || damaged != 0 {
				t.Errorf("%d damaged, events (-want +got):\n%s", damaged, diff)
			}
		})
	}
}

// The checksum depends on the texts and their borders.
func TestChecksum(t *testing.T) {
	seen := map[string]bool{}
	for _, of := range [][]string{{"a", ""}, {"b", ""}, {"a", "b"}, {"ab", ""}, {"", "ab"}, {"a", "", ""}, {}} {
		seen[Checksum(of...)] = true
	}
	if len(seen) != 7 {
		t.Errorf("%v", seen)
	}
}

func TestReadDamaged(t *testing.T) {
	good := string(appendLine(nil, &sample))
	checked := func(fields string) string { return string(checksum([]byte(fields))) + "\t" + fields + "\n" }
	other := strings.Replace(good, "\t4\t", "\t1\t", 1)
	other = string(checksum([]byte(strings.TrimSuffix(other[9:], "\n")))) + other[8:]
	for _, test := range []struct {
		name    string
		text    string
		events  int
		damaged int
	}{
		{"nothing", "", 0, 0},
		{"whole", good + good, 2, 0},
		{"end is missing", good + good[:len(good)-1], 1, 1},
		{"torn in the middle", good[:40] + good + good, 1, 1},
		{"changed", strings.Replace(good, "gitlab", "github", 1) + good, 1, 1},
		{"blank line", good + "\n" + good, 2, 1},
		{"other version", other + good, 1, 1},
		{"without pages", checked("3\t1\tclaude\ts\tc\tPreToolUse\tWebSearch\tanswered\t1\t\tq\tgitlab\t0.5") + good, 2, 0},
		{"a database without a confidence", checked("3\t1\tclaude\ts\tc\tPreToolUse\tWebSearch\tanswered\t1\t\t\tgitlab") + good, 1, 1},
		{"a confidence above 1", checked("3\t1\tclaude\ts\tc\tPreToolUse\tWebSearch\tanswered\t1\t\t\tgitlab\t1.5") + good, 1, 1},
		{"a confidence that is no number", checked("3\t1\tclaude\ts\tc\tPreToolUse\tWebSearch\tanswered\t1\t\t\tgitlab\tNaN") + good, 1, 1},
		{"version alone", checked("4") + checked("3") + good, 1, 2},
		{"not text", "\x00\xff\t\n" + good, 1, 1},
		{"too long", strings.Repeat("x", 3*maxLine) + "\n" + good, 1, 1},
		{"too long at the end", good + strings.Repeat("x", maxLine+1), 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Log{t.TempDir()}
			write(t, filepath.Join(l.Dir, currentFile), test.text)
			got, damaged := events(t, l)
			if len(got) != test.events || damaged != test.damaged {
				t.Errorf("%d events and %d damaged lines, want %d and %d", len(got), damaged, test.events, test.damaged)
			}
		})
	}
}

func TestReadStops(t *testing.T) {
	l := Log{t.TempDir()}
	write(t, filepath.Join(l.Dir, currentFile), strings.Repeat(string(appendLine(nil, &sample)), 3))
	stop := errors.New("stop")
	calls := 0
	if _, err := l.Read(func(Event) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
	if damaged, err := (Log{filepath.Join(l.Dir, "absent")}).Read(func(Event) error { return stop }); damaged != 0 || err != nil {
		t.Errorf("a log that is not there: %d damaged, error %v", damaged, err)
	}
}

// The log never has more than two files of about MaxSize. They contain the latest events,
// in order.
func TestRotation(t *testing.T) {
	l := Log{t.TempDir()}
	e := sample
	e.Query = strings.Repeat("q", MaxQuery)
	line := len(appendLine(nil, &e))
	written := 3 * MaxSize / line
	for i := range written {
		e.At = time.UnixMilli(int64(1e12 + i))
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{currentFile, previousFile} {
		st, err := os.Stat(filepath.Join(l.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if st.Size() > MaxSize {
			t.Errorf("%s has %d bytes", name, st.Size())
		}
	}
	got, damaged := events(t, l)
	if damaged != 0 || len(got) < MaxSize/line {
		t.Errorf("%d events, %d damaged", len(got), damaged)
	}
	for i, e := range got {
		if want := int64(1e12 + written - len(got) + i); e.At.UnixMilli() != want {
			t.Fatalf("event %d is of %d, want %d", i, e.At.UnixMilli(), want)
		}
	}
}

// Fifty processes that append in parallel, while the file is full, lose no event.
func TestProcesses(t *testing.T) {
	const processes, each = 50, 20
	if dir := os.Getenv("EVENTLOG_TEST_DIR"); dir != "" {
		e := sample
		e.Rule = os.Getenv("EVENTLOG_TEST_NAME")
		e.Query = strings.Repeat("long enough to be torn ", 20)
		for i := range each {
			e.Shown = i
			if err := (Log{dir}).Append(&e); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if os.Getenv("DOCSEARCH_WINE") != "" {
		t.Skip("skipped: under Wine, appends of several processes overwrite each other")
	}
	l := Log{t.TempDir()}
	line := string(appendLine(nil, &sample))
	before := (MaxSize - 1000) / len(line)
	write(t, filepath.Join(l.Dir, currentFile), strings.Repeat(line, before))
	var running []*exec.Cmd
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
		cmd.Env = append(os.Environ(), "EVENTLOG_TEST_DIR="+l.Dir, "EVENTLOG_TEST_NAME=p"+strconv.Itoa(i))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, cmd.Stdout)
		}
	}
	got, damaged := events(t, l)
	if damaged != 0 || len(got) != before+processes*each {
		t.Errorf("%d events and %d damaged lines, want %d and 0", len(got), damaged, before+processes*each)
	}
	next := map[string]int{}
	for _, e := range got {
		if e.Rule == "" {
			continue
		}
		if e.Shown != next[e.Rule] {
			t.Fatalf("process %s: event %d, want %d", e.Rule, e.Shown, next[e.Rule])
		}
		next[e.Rule]++
	}
	// Windows cannot rename a file that another process has open.
	if _, err := os.Stat(filepath.Join(l.Dir, previousFile)); err != nil && runtime.GOOS != "windows" {
		t.Errorf("the file was not rotated: %v", err)
	}
}

func TestAppendFails(t *testing.T) {
	full := strings.Repeat(string(appendLine(nil, &sample)), 2*MaxSize/80)
	for _, test := range []struct {
		name    string
		arrange func(t *testing.T, dir string) Log
	}{
		{"the folder is a file", func(t *testing.T, dir string) Log {
			write(t, filepath.Join(dir, "file"), "")
			return Log{filepath.Join(dir, "file")}
		}},
		{"the log is a folder", func(t *testing.T, dir string) Log {
			mkdir(t, filepath.Join(dir, currentFile))
			return Log{dir}
		}},
		{"no room can be made", func(t *testing.T, dir string) Log {
			write(t, filepath.Join(dir, currentFile), full)
			mkdir(t, filepath.Join(dir, previousFile, "in the way"))
			return Log{dir}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := test.arrange(t, t.TempDir())
			if err := l.Append(&sample); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	l := Log{t.TempDir()}
	if err := l.Append(&sample); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(l.Dir, currentFile))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func FuzzRead(f *testing.F) {
	line := appendLine(nil, &sample)
	f.Add(line, "query")
	f.Add(append(line[:20:20], line...), "a\tb\\n\n")
	f.Add([]byte("\n\n"), "\xff")
	f.Fuzz(func(t *testing.T, data []byte, query string) {
		count := 0
		if _, err := read(bytes.NewReader(data), func(Event) error { count++; return nil }); err != nil {
			t.Fatal(err)
		}
		if most := bytes.Count(data, []byte("\n")); count > most {
			t.Errorf("%d events in %d lines", count, most)
		}
		// The checksum blocks the fuzzer, so the code after it is fuzzed with a valid one.
		behind := bytes.ReplaceAll(data, []byte("\n"), nil)
		parseLine(fmt.Appendf(nil, "%s\t%s\n", checksum(behind), behind))

		e := sample
		e.Query = query
		back, err := parseLine(appendLine(nil, &e))
		if len(query) > MaxQuery {
			e.Query = back.Query
		}
		if err != nil || !strings.HasPrefix(query, back.Query) || !cmp.Equal(e, back) {
			t.Errorf("%+v was read back as %+v, %v", e, back, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l := Log{b.TempDir()}
	for b.Loop() {
		if err := l.Append(&sample); err != nil {
			b.Fatal(err)
		}
	}
}

func events(t *testing.T, l Log) (list []Event, damaged int) {
	t.Helper()
	damaged, err := l.Read(func(e Event) error {
		list = append(list, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, damaged
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}
