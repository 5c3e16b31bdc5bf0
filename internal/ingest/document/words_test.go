package document

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for s, want := range map[string]int{
		"":                        0,
		" \t\n":                   0,
		"one two":                 2,
		"don't re-use x.y":        3,
		"全文検索エンジン":                4,
		"Go言語":                    2,
		"über größe":              2,
		strings.Repeat("a", 3200): 101,
		"a\u00a0b":                2,
	} {
		if got := CountWords(s); got != want {
			t.Errorf("words(%.20q) = %d, want %d", s, got, want)
		}
	}
}
