package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// At a terminal, the help of the flags is wrapped at its width.
func TestHelpAtTerminal(t *testing.T) {
	shown, code := startAtTerminal(t, t.TempDir(), t.TempDir(), "index", "build", "--help").wait()
	if code != exitOK || !strings.Contains(shown, "\nSite flags:\n") {
		t.Fatalf("exit code %d\n%s", code, shown)
	}
	for line := range strings.Lines(shown) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("the line has %d columns, want at most 100: %s", n, line)
		}
	}
}
