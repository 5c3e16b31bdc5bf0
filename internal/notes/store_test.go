package notes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("INJECT_TEST_DIR"); dir != "" {
		// One of many hooks of a session, see TestManyProcesses.
		text, err := Store{dir}.Show("s", "", time.Now(), injection("a", "b", os.Getenv("INJECT_TEST_OWN")))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Print(text)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// injection returns an injection of items that are their own keys.
func injection(keys ...string) *Injection {
	o := &Injection{Event: "PreToolUse", Tool: "Edit", Max: 1000}
	for _, key := range keys {
		o.Items = append(o.Items, Item{Database: "d", Key: key, Title: "title " + key, Text: key})
	}
	return o
}

func at(seconds int) time.Time { return time.Unix(1763635277+int64(seconds), 0) }

func TestStore(t *testing.T) {
	beginning := func(event, why string, keys ...string) *Injection {
		o := injection(keys...)
		o.Event, o.ContextReset = event, why
		return o
	}
	compacting := &Injection{Event: "PreCompact", Compacting: true}
	type step struct {
		seconds int
		session string
		agent   string
		offer   *Injection
		want    string
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"once", []step{{0, "s", "", injection("a"), "a"}, {1, "s", "", injection("a"), ""}, {2, "s", "", injection("a", "b"), "b"}}},
		{"each session", []step{{0, "s", "", injection("a"), "a"}, {1, "r", "", injection("a"), "a"}}},
		{"sessions with like names", []step{{0, "s/x", "", injection("a"), "a"}, {1, "s_x", "", injection("a"), "a"}, {2, "s/x", "", injection("a"), ""}}},
		{"each agent", []step{{0, "s", "", injection("a"), "a"}, {1, "s", "sub", injection("a"), "a"}, {2, "s", "sub", injection("a"), ""}}},
		{"compaction", []step{
			{0, "s", "", injection("a"), "a"}, {0, "s", "sub", injection("a"), "a"}, {1, "s", "", compacting, ""}, {2, "s", "", injection("a"), ""},
			{3, "s", "", beginning("SessionStart", "compact", "l"), "l"}, {4, "s", "", beginning("PostCompact", "compact"), ""},
			{5, "s", "", injection("a", "l"), "a"}, {5, "s", "sub", injection("a"), ""},
		}},
		{"a compaction that only its end reports", []step{
			{0, "s", "", injection("a"), "a"}, {1, "s", "", compacting, ""}, {3, "s", "", beginning("PostCompact", "compact"), ""}, {4, "s", "", injection("a"), "a"},
		}},
		{"the hook in two places", []step{
			{0, "s", "", beginning("SessionStart", "", "l"), "l"}, {0, "s", "", beginning("SessionStart", "", "l"), ""},
			{50, "s", "", beginning("SessionStart", "compact", "l"), "l"}, {50, "s", "", beginning("SessionStart", "compact", "l"), ""},
			{90, "s", "", beginning("SessionStart", "compact", "l"), "l"},
		}},
		{"a key with a tab", []step{{0, "s", "", injection("a\tb\n"), "a\tb\n"}, {1, "s", "", injection("a\tb\n"), ""}}},
		{"nothing to say", []step{{0, "s", "", injection(), ""}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Store{filepath.Join(t.TempDir(), "state")}
			for i, step := range test.steps {
				got, err := s.Show(step.session, step.agent, at(step.seconds), step.offer)
				if err != nil {
					t.Fatal(err)
				}
				if got != step.want {
					t.Errorf("step %d: shown %q, want %q", i, got, step.want)
				}
			}
		})
	}
}

func TestRecords(t *testing.T) {
	s := Store{t.TempDir()}
	if _, err := s.Show("s", "sub", at(7), injection("a")); err != nil {
		t.Fatal(err)
	}
	records, err := s.Read("s")
	if err != nil {
		t.Fatal(err)
	}
	want := Record{at(7), "told", "sub", "PreToolUse", "Edit", "d", "a", 1, "title a"}
	if len(records) != 1 || records[0] != want {
		t.Errorf("records %+v, want %+v", records, want)
	}
	if names, err := s.Sessions(); err != nil || !slices.Equal(names, []string{"s"}) {
		t.Errorf("sessions %q, %v", names, err)
	}
	if records, err := s.Read("none"); err != nil || len(records) > 0 {
		t.Errorf("of no session: %v, %v", records, err)
	}
}

// A partial line of a killed process damages no other line.
func TestCutLine(t *testing.T) {
	s := Store{t.TempDir()}
	for _, key := range []string{"a", "b"} {
		if _, err := s.Show("s", "", at(0), injection(key)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(s.path("s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("s"), data[:len(data)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"b", ""} {
		if got, err := s.Show("s", "", at(1), injection("a", "b")); err != nil || got != want {
			t.Errorf("shown %q, %v, want %q", got, err, want)
		}
	}
}

func TestFullFile(t *testing.T) {
	s := Store{t.TempDir()}
	if err := os.WriteFile(s.path("s"), []byte(strings.Repeat("x\n", maxFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := s.Show("s", "", at(0), injection("a")); !errors.Is(err, ErrFull) || text != "" {
		t.Errorf("shown %q, %v", text, err)
	}
}

func TestStaleFiles(t *testing.T) {
	s := Store{t.TempDir()}
	for _, session := range []string{"old", "new"} {
		if _, err := s.Show(session, "", at(0), injection("a")); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * retention)
	if err := os.Chtimes(s.path("old"), long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Show("newer", "", time.Now(), injection("a")); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Sessions(); err != nil || !slices.Equal(names, []string{"new", "newer"}) {
		t.Errorf("sessions %q, %v", names, err)
	}
}

// With many parallel hooks of a session, nothing is shown twice and nothing is lost.
func TestManyProcesses(t *testing.T) {
	processes := 50
	if os.Getenv("DOCSEARCH_WINE") != "" {
		processes = 5 // Wine fails to start fifty at once.
	}
	dir := t.TempDir()
	texts := make([]string, processes)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "INJECT_TEST_DIR="+dir, fmt.Sprintf("INJECT_TEST_OWN=own%d", i))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, out)
			}
			texts[i] = string(out)
		})
	}
	wg.Wait()
	count := map[string]int{}
	for _, text := range texts {
		for key := range strings.FieldsSeq(text) {
			count[key]++
		}
	}
	if len(count) != processes+2 {
		t.Errorf("%d items were shown, want %d", len(count), processes+2)
	}
	for key, n := range count {
		if n != 1 {
			t.Errorf("%s was shown %d times", key, n)
		}
	}
	records, err := Store{dir}.Read("s")
	if err != nil || len(records) != processes+2 {
		t.Errorf("%d records, %v, want %d", len(records), err, processes+2)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add("1\ttold\t\tPreToolUse\tEdit\td\tk\t3\ttitle\n")
	f.Add("1\tbegins\t\tSessionStart\tcompact\t\t\t0\t\n\n\t\t\t\t\t\t\t\t\n")
	f.Fuzz(func(t *testing.T, data string) {
		var lines []byte
		records := parse(data)
		for i := range records {
			lines = records[i].appendLine(lines)
		}
		if again := parse(string(lines)); len(again) != len(records) {
			t.Errorf("%d records of %q were read back as %d", len(records), data, len(again))
		}
		Shown(records, "")("k")
	})
}
