package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/google/go-cmp/cmp"
)

// prose makes n words, each of them marked.
func wordsOf(mark string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[i%12/11])
		}
		fmt.Fprintf(&b, "%s%d", mark, i)
	}
	return b.String()
}

// outline is a passage in short: its headings, its lines, its words.
func outline(passages []passage.Passage) []string {
	var lines []string
	for _, p := range passages {
		lines = append(lines, fmt.Sprintf("%s %d-%d: %d", strings.Join(p.Headings, " > "), p.StartLine, p.EndLine, len(strings.Fields(p.Text))))
	}
	return lines
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
		notes    []string
	}{
		{name: "one section", in: "# A\n\n" + wordsOf("w", 200), want: []string{"A 1-19: 202"}},
		{name: "small siblings together", in: "# A\n\n" + wordsOf("a", 200) + "\n\n## B\n\n" + wordsOf("b", 50) + "\n\n## C\n\n" + wordsOf("c", 50) + "\n\n## D\n\n" + wordsOf("d", 300) + "\n",
			want: []string{"A 1-19: 202", "A > B / C 21-35: 104", "A > D 37-64: 302"}},
		{name: "an introduction goes with what it introduces", in: "# A\n\nIn short.\n\n## B\n\n" + wordsOf("b", 200),
			want: []string{"A > B 1-23: 206"}},
		{name: "and so may a longer one", in: "# A\n\n" + wordsOf("a", 50) + "\n\n## B\n\n" + wordsOf("b", 50),
			want: []string{"A > B 1-15: 104"}},
		{name: "but not with a neighbour", in: "# A\n\n" + wordsOf("a", 200) + "\n\n## B\n\nshort\n\n## C\n\n" + wordsOf("c", 200),
			want: []string{"A 1-19: 202", "A > B 21-23: 3", "A > C 25-43: 202"}},
		{name: "nor across chapters", in: "# A\n\n" + wordsOf("a", 200) + "\n\n## B\n\n### C\n\n" + wordsOf("c", 30) + "\n\n## D\n\n" + wordsOf("d", 30),
			want: []string{"A 1-19: 202", "A > B > C 21-27: 34", "A > D 29-33: 32"}},
		{name: "slight siblings all count", in: "# A\n\n" + wordsOf("a", 200) + "\n\n## --b\n\nbe\n\n## --c\n\nsee\n\n## --d\n\ndo\n",
			want: []string{"A 1-19: 202", "A > --b / --c / --d 21-31: 9"}},
		{name: "bare headings go on", in: "# A\n\n## B\n\n### C\n\n" + wordsOf("c", 200) + "\n\n## D\n\n# E\n",
			want: []string{"A > B > C 1-27: 210"}},
		{name: "nothing but headings", in: "# A\n\n## B\n", want: []string{"A > B 1-3: 4"}},
		{name: "no heading", in: wordsOf("w", 30), want: []string{" 1-3: 30"}},
		{name: "long section, cut evenly", in: "# A\n\n" + strings.Repeat(wordsOf("w", 90)+"\n\n", 5),
			want: []string{"A 1-28: 272", "A 30-46: 180"}},
		{name: "long paragraph", in: "# A\n\n" + strings.Repeat("It is so. ", 300),
			want: []string{"A 1-3: 302", "A 3-3: 300", "A 3-3: 300"}},
		{name: "long list", in: "# A\n\n" + strings.Repeat("- "+strings.Repeat("w ", 99)+"\n", 6),
			want: []string{"A 1-5: 302", "A 6-8: 300"}},
		{name: "code is not cut", in: "# A\n\n" + wordsOf("w", 240) + "\n\n```\n" + strings.Repeat("x = 1\n", 100) + "```\n\n" + wordsOf("v", 240),
			want: []string{"A 1-23: 242", "A 25-126: 302", "A 128-148: 240"}},
		{name: "unless it is too long", in: "# A\n\n```go\n" + strings.Repeat("x = 1\n", 300) + "```\n",
			want:  []string{"A 1-103: 304", "A 104-203: 302", "A 204-304: 302"},
			notes: []string{"3: a block of code of 902 words was split into 3 passages"}},
		{name: "long table", in: "# A\n\n| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 100),
			want:  []string{"A 1-54: 258", "A 55-104: 256"},
			notes: []string{"3: a table of 506 words was split into 2 passages"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			passages, notes := cut(markdownOf(t, tt.in))
			if diff := cmp.Diff(tt.want, outline(passages)); diff != "" {
				t.Errorf("passages (-want +got)\n%s", diff)
			}
			var said []string
			for _, n := range notes {
				said = append(said, fmt.Sprintf("%s: %s", strings.TrimPrefix(n.place, ":"), n.text))
			}
			if diff := cmp.Diff(tt.notes, said); diff != "" {
				t.Errorf("notes (-want +got)\n%s", diff)
			}
		})
	}
}

func TestCutPartsAreWhole(t *testing.T) {
	rows := strings.Repeat("| 1 | 2 |\n", 150)
	body := strings.Repeat("x = 1\n", 300)
	for name, tt := range map[string]struct{ in, first, last string }{
		"code":          {"~~~~ go\n" + body + "~~~~\n", "~~~~ go\nx", "1\n~~~~"},
		"code unclosed": {"```\n" + body, "```\nx", "1\n```"},
		"code in quote": {"> ```\n" + strings.Repeat("> x = 1\n", 300) + "> ```\n", "> ```\n> x", "1\n> ```"},
		"code in list":  {"- ```\n" + strings.Repeat("  x = 1\n", 300) + "  ```\n", "- ```\n  x", "1\n  ```"},
		"table":         {"| a | b |\n|---|---|\n" + rows, "| a | b |\n|---|---|\n| 1 ", "| 2 |"},
	} {
		t.Run(name, func(t *testing.T) {
			passages, _ := cut(markdownOf(t, tt.in))
			if len(passages) < 2 {
				t.Fatalf("%d passages", len(passages))
			}
			for _, p := range passages {
				if !strings.HasPrefix(p.Text, tt.first) || !strings.HasSuffix(p.Text, tt.last) {
					t.Errorf("begins with %.40q, ends with %q", p.Text, p.Text[max(0, len(p.Text)-20):])
				}
			}
		})
	}
}

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
		if got := words(s); got != want {
			t.Errorf("words(%.20q) = %d, want %d", s, got, want)
		}
	}
}

// checkCut holds for whatever document: no word of it is lost, passages follow
// one another, none is much too long, and a text is its lines unless it was
// cut.
func checkCut(t *testing.T, doc document, skip int) {
	t.Helper()
	passages, _ := cut(doc)
	count := map[string]int{}
	at := skip
	for i, p := range passages {
		if p.StartLine < at || p.EndLine < p.StartLine || p.EndLine > len(doc.lines) {
			t.Fatalf("passage %d has lines %d to %d of %d, the one before begins at %d", i, p.StartLine, p.EndLine, len(doc.lines), at)
		}
		at = p.StartLine
		if n := words(p.Text); n > 3*most {
			t.Errorf("passage %d has %d words", i, n)
		}
		if n := len(p.Text); n > 2*maxText {
			t.Errorf("passage %d has %d bytes", i, n)
		}
		if strings.TrimSpace(p.Text) == "" {
			t.Errorf("passage %d is blank", i)
		}
		for _, w := range strings.Fields(p.Text) {
			count[w]++
		}
	}
	for i, line := range doc.lines[skip:] {
		for _, w := range strings.Fields(line) {
			if len(w) > 32 {
				continue // may have been cut itself
			}
			if count[w]--; count[w] < 0 {
				t.Fatalf("%q of line %d is in no passage", w, skip+i+1)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"# A\n\ntext\n\n## B\n\n- x\n- y\n\n```\ncode\n```\n",
		"---\ntitle: T\n---\nA\n=\n\n| a |\n|---|\n| 1 |\n",
		"# A\n" + strings.Repeat("word ", 500) + "\n> " + strings.Repeat("x\n> ", 500),
		"~~~\n" + strings.Repeat("y = 2\n", 300),
		"<div>\n" + strings.Repeat("z ", 450) + "\n</div>\n# \n#\n",
		"1. a\n   ```" + strings.Repeat(" info", 500),
		"# A " + strings.Repeat("word ", 500),
		stairs("  ", "- x", 300),
		strings.Repeat("- ", 200) + "x\n\n",
		strings.Repeat("# a\n", 2000) + "\ntext\n",
		"a" + strings.Repeat(" ", 3*maxText) + "b\n",
		"```" + strings.Repeat(" ", maxText) + "\n" + strings.Repeat("a ", 500),
		strings.Repeat("[a]: b\n", 1500),
		"|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", 300),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		source := normalise(in)
		if source == nil {
			return
		}
		doc, err := readMarkdown(source)
		if errors.Is(err, errTooNested) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		checkCut(t, doc, frontMatter(doc.lines).lines)
	})
}

// stairs is lines that begin with the same step once more each.
func stairs(step, end string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(step, i) + end + "\n")
	}
	return b.String()
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte("Title\n=====\n\ntext\ntext\n\nSub\n---\nmore"))
	f.Add([]byte("a\n\n" + strings.Repeat("long line ", 1000)))
	f.Fuzz(func(t *testing.T, in []byte) {
		if source := normalise(in); source != nil {
			doc, err := readPlain(source)
			if err != nil {
				t.Fatal(err)
			}
			checkCut(t, doc, 0)
		}
	})
}

// normalise does to the input what readDocument does; nil where that refuses.
func normalise(in []byte) []byte {
	source, err := clean(in)
	if err != nil {
		return nil
	}
	return slices.Clone(source)
}
