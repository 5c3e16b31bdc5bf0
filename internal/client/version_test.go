package client

import "testing"

func TestTooOld(t *testing.T) {
	for version, want := range map[string]bool{
		"2.0.30 (Claude Code)\n": true, "1.0.128 (Claude Code)": true, "2.1.75": true,
		"2.1.76 (Claude Code)": false, "2.1.328 (Claude Code)\n": false, "3.0.0": false,
		"2.1": false, "": false, "unknown": false, "2.1.x": false,
	} {
		if got := tooOld(version); got != want {
			t.Errorf("tooOld(%q) = %t", version, got)
		}
	}
}
