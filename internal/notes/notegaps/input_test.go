package notegaps

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPastCalls reads the calls of two sessions, of which the second resumes the first.
func TestPastCalls(t *testing.T) {
	const line = `{"type":"assistant","sessionId":"%s","timestamp":"2026-01-0%dT03:04:05Z","message":{"content":[` +
		`{"type":"tool_use","id":"%s","name":"%s","input":{"command":"%s"}}]}}` + "\n"
	old := fmt.Sprintf(line, "s1", 1, "t1", "Bash", "old")
	first := fmt.Sprintf(line, "s1", 3, "t2", "Bash", "first")
	read := fmt.Sprintf(line, "s1", 3, "t3", "Read", "read")
	second := fmt.Sprintf(line, "s2", 4, "t4", "Bash", "second")
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "1.jsonl"), filepath.Join(dir, "2.jsonl"), filepath.Join(dir, "missing.jsonl")}
	for i, text := range []string{old + first + read, first + "{\"tool_use\"\n" + second} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	in := &Input{Calls: PastCalls(t.Context(), files, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), []string{"Bash"}, warn)}
	var got []string
	for i := range in.Calls {
		got = append(got, in.Describe(i))
	}
	if want := []string{"Bash first", "Bash second"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
	if n := in.Sessions(); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0], files[1]+": cannot read 1 line; first: ") ||
		!strings.Contains(warnings[1], files[2]) {
		t.Errorf("warnings %q", warnings)
	}
}
