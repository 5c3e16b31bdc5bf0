package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMoveFootnotes(t *testing.T) {
	long := "[^1]: " + strings.Repeat("long ", maxFootnoteBytes/5)
	for _, test := range []struct{ name, in, want string }{
		{"none", "a[^1]\n\nb[^1]", "a[^1]\n\nb[^1]"},
		{"at the end", "a[^1]\nb\n\nc\n\n[^1]: Note.", "a[^1]\nb\n\n[^1]: Note.\n\nc\n"},
		{"of several lines", "a[^x]\n\nb\n\n[^x]: One\ntwo\n\n    three\n\nc", "a[^x]\n\n[^x]: One\ntwo\n\n    three\n\nb\n\n\nc"},
		{"two in a paragraph", "a[^1][^2]\n\nb\n\n[^1]: One\n[^2]: Two", "a[^1][^2]\n\n[^1]: One\n\n[^2]: Two\n\nb\n"},
		{"cited twice", "a[^1]\n\nb[^1]\n\n[^1]: Note.", "a[^1]\n\n[^1]: Note.\n\nb[^1]\n"},
		{"before the citation", "[^1]: Note.\n\na\n\nb[^1]", "\na\n\nb[^1]\n\n[^1]: Note."},
		{"in place", "a[^1]\n\n[^1]: Note.\n\nb", "a[^1]\n\n[^1]: Note.\n\nb"},
		{"not cited", "a\n\nb\n\n[^1]: Note.", "a\n\nb\n\n[^1]: Note."},
		{"cited by a footnote", "a\n\nb\n\n[^1]: Note[^2].\n[^2]: Two.", "a\n\nb\n\n[^1]: Note[^2].\n[^2]: Two."},
		{"in code", "a\n\n```\n[^1]\n[^1]: x\n```\n\nb", "a\n\n```\n[^1]\n[^1]: x\n```\n\nb"},
		{"with code", "a[^1]\n\nb\n\n[^1]: Note\n    ```\n    x\n    ```", "a[^1]\n\nb\n\n[^1]: Note\n    ```\n    x\n    ```"},
		{"before code", "a[^1]\n```\nx\n```\n\n[^1]: Note.", "a[^1]\n\n[^1]: Note.\n\n```\nx\n```\n"},
		{"long", "a[^1]\n\nb\n\n" + long, "a[^1]\n\nb\n\n" + long},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := strings.Split(test.in, "\n")
			got, from := moveFootnotes(lines, nil)
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("moved (-want +got):\n%s", diff)
			}
			for i, at := range from {
				if at < 1 || at > len(lines) || i > 0 && at < from[i-1] {
					t.Errorf("line %d is made of line %d", i+1, at)
				}
			}
		})
	}
}

func FuzzMoveFootnotes(f *testing.F) {
	f.Add("a[^1]\n\nb\n\n[^1]: One\n    two\n\n    three\n")
	f.Add("[^1]: [^2]\n[^2]: [^1]\n```\n[^1]\n```\n# [^2]")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		got, from := moveFootnotes(lines, nil)
		if from != nil && len(from) != len(got) {
			t.Fatalf("%d places of %d lines", len(from), len(got))
		}
		count := map[string]int{}
		for _, l := range lines {
			count[l]++
		}
		for _, l := range got {
			count[l]--
		}
		for l, n := range count {
			if n != 0 && strings.TrimSpace(l) != "" {
				t.Fatalf("line %q is there %d times more or less", l, -n)
			}
		}
	})
}
