package agentconfig

import "testing"

func TestVersion(t *testing.T) {
	for text, want := range map[string]struct{ old, strict bool }{
		"2.0.30 (Claude Code)\n":    {true, true},
		"1.9.99":                    {true, true},
		"2.1.75 (Claude Code)":      {true, true},
		"2.1.76 (Claude Code)":      {false, true},
		"2.1.197 (Claude Code)":     {false, true},
		"2.1.328 (Claude Code)":     {},
		"3.0.0":                     {},
		"10.0.1 (Claude Code)":      {},
		"":                          {},
		"2.1":                       {},
		"unknown (Claude Code)":     {},
		"2.1.x":                     {},
		"-1.1.1":                    {},
		"99999999999999999999.1.12": {},
	} {
		v := parseVersion(text)
		if got := v.before(allEventsVersion); got != want.old {
			t.Errorf("%q: before %v is %t, want %t", text, allEventsVersion, got, want.old)
		}
		if got := v.before(ignoredEntriesVersion); got != want.strict {
			t.Errorf("%q: before %v is %t, want %t", text, ignoredEntriesVersion, got, want.strict)
		}
	}
}
