package terminal

import (
	"bytes"
	"strings"
	"testing"
)

// The rest of a long line goes on the next one, but not into a list, a heading or a fence.
func TestQuote(t *testing.T) {
	word := strings.Repeat("x", 40)
	for _, tt := range []struct{ text, want string }{
		{word + " " + word + "\nturns left", word + "|" + word + " turns left"},
		{"- " + word + " " + word + "\n  turns left", "- " + word + "|  " + word + " turns left"},
		{word + " " + word + "\n- an item", word + "|" + word + "|- an item"},
		{word + " " + word + "\n```", word + "|" + word + "|```"},
		{word + " " + word, word + "|" + word},
		{"- " + word + " " + word, "- " + word + "|  " + word},
		{"1. Title\n   score | " + word + " " + word, "1. Title|   score | " + word + "|   " + word},
		{"short\nturns left", "short|turns left"},
	} {
		var out bytes.Buffer
		p := NewSteps(&out)
		p.quoteWidth = 6 + 66
		p.Quote(tt.text, 10)
		var got []string
		for line := range strings.Lines(out.String()) {
			if _, text, isQuote := strings.Cut(strings.TrimSuffix(line, "\n"), "    | "); isQuote {
				got = append(got, text)
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
