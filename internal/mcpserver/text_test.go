package mcpserver

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/safetext"
)

func TestFenced(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "a\nb", "```\na\nb\n```\n"},
		{"trailing newlines", "a\n\n", "```\na\n```\n"},
		{"a fence within", "a\n```go\nx\n```\nb", "````\na\n```go\nx\n```\nb\n````\n"},
		{"a longer one", "`````", "``````\n`````\n``````\n"},
		{"nothing", "", "```\n\n```\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fenced(tt.text); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if got, most := len(fenced(tt.text))-len(tt.text), fenceSize(tt.text); got > most {
				t.Errorf("the fence takes %d bytes, fenceSize says %d", got, most)
			}
		})
	}
}

func TestHeading(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    passage.Passage
		want string
	}{
		{"title and headings", passage.Passage{Title: "T", Headings: []string{"A", "B"}}, "T > A > B"},
		{"the title is the first heading", passage.Passage{Title: "T", Headings: []string{"t", "B"}}, "t > B"},
		{"headings", passage.Passage{Headings: []string{"A"}}, "A"},
		{"title", passage.Passage{Title: "T"}, "T"},
		{"path", passage.Passage{Path: "a/b.md", StartLine: 7}, "a/b.md:7"},
		{"text", passage.Passage{ID: "0", Text: "# Frobnicate a gadget\n\nRun gadget frob."}, "Frobnicate a gadget"},
		{"several lines", passage.Passage{Title: "T\n\n2. Fake\n```"}, "T 2. Fake ```"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := heading(&tt.p); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	filler := strings.Repeat("nothing of interest here\n", 40)
	for _, tt := range []struct {
		name, text  string
		limit       int
		words       string
		want, never string
	}{
		{"short", "a\nb\n", 100, "x", "a\nb", "…"},
		{"the end matters", filler + "the answer is os.rename\n", 200, "how to use os.rename", "the answer is os.rename", ""},
		{"the middle matters", filler + "the answer is os.rename\n" + filler, 200, "os.rename", "…\n", ""},
		{"other form of the word", filler + "cached files\n" + filler, 200, "caching", "cached files", ""},
		{"no word is there", "first\n" + filler, 200, "zebra", "first\n", ""},
		{"one long line", strings.Repeat("ü", 500), 101, "x", "ü", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := excerpt(tt.text, tt.limit, StemPrefixes(tt.words, nil))
			if len(got) > tt.limit || !utf8.ValidString(got) {
				t.Errorf("%d bytes, limit %d, valid %v", len(got), tt.limit, utf8.ValidString(got))
			}
			if !strings.Contains(got, tt.want) || tt.never != "" && strings.Contains(got, tt.never) {
				t.Errorf("got %q, want it to have %q and not %q", got, tt.want, tt.never)
			}
		})
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\nc", 20, "b")
	f.Add(strings.Repeat("x", 99)+"\n\n\nfoo", 40, "foo bar")
	f.Fuzz(func(t *testing.T, text string, limit int, words string) {
		if limit < 20 || limit > 1<<16 {
			return
		}
		text = safetext.Block(text)
		got := excerpt(text, limit, StemPrefixes(words, nil))
		if len(got) > limit {
			t.Errorf("%d bytes, limit %d", len(got), limit)
		}
		if !utf8.ValidString(got) {
			t.Errorf("broken text: %q", got)
		}
		if body := strings.TrimSuffix(strings.TrimPrefix(got, "…\n"), "\n…"); !strings.Contains(text, body) {
			t.Errorf("%q is not in the text", body)
		}
		block := fenced(got)
		fence, _, _ := strings.Cut(block, "\n")
		if strings.Count(block, fence) != 2 {
			t.Errorf("the quotation ends early: %q", block)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
