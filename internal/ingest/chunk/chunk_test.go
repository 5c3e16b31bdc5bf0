package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

// outline summarizes passages: headings, lines, number of words.
func outline(passages []passage.Passage) []string {
	var lines []string
	for _, p := range passages {
		lines = append(lines, fmt.Sprintf("%s %d-%d: %d", strings.Join(p.Headings, " > "), p.StartLine, p.EndLine, len(strings.Fields(p.Text))))
	}
	return lines
}

func parse(t *testing.T, text string) document.Document {
	t.Helper()
	doc, err := markdown.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// An entry of a reference shares a passage only with its introduction and its
// subsections.
func TestEntries(t *testing.T) {
	doc := parse(t, "# API\n\nintro\n\n## Books\n\nof paper\n\n### List\n\nall\n\n#### Order\n\nby title\n\n### Add\n\none\n\n## Loans\n\nshort\n\n### Lend\n\na book\n")
	for i := range doc.Sections {
		switch doc.Sections[i].Headings[len(doc.Sections[i].Headings)-1] {
		case "List", "Add", "Lend":
			doc.Sections[i].Entry = true
		}
	}
	passages, _ := chunk.Split(doc)
	want := []string{"API > Books 1-15: 14", "API > Books > Add 17-19: 3", "API > Loans > Lend 21-27: 7"}
	if diff := cmp.Diff(want, outline(passages)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
		notes    []string
	}{
		{name: "one section", in: "# A\n\n" + ingesttest.Words("w", 200), want: []string{"A 1-19: 202"}},
		{name: "small siblings together", in: "# A\n\n" + ingesttest.Words("a", 200) + "\n\n## B\n\n" + ingesttest.Words("b", 50) + "\n\n## C\n\n" + ingesttest.Words("c", 50) + "\n\n## D\n\n" + ingesttest.Words("d", 300) + "\n",
			want: []string{"A 1-19: 202", "A > B / C 21-35: 104", "A > D 37-64: 302"}},
		{name: "an introduction goes with what it introduces", in: "# A\n\nIn short.\n\n## B\n\n" + ingesttest.Words("b", 200),
			want: []string{"A > B 1-23: 206"}},
		{name: "and so may a longer one", in: "# A\n\n" + ingesttest.Words("a", 50) + "\n\n## B\n\n" + ingesttest.Words("b", 50),
			want: []string{"A > B 1-15: 104"}},
		{name: "but not with a neighbour", in: "# A\n\n" + ingesttest.Words("a", 200) + "\n\n## B\n\nshort\n\n## C\n\n" + ingesttest.Words("c", 200),
			want: []string{"A 1-19: 202", "A > B 21-23: 3", "A > C 25-43: 202"}},
		{name: "nor across chapters", in: "# A\n\n" + ingesttest.Words("a", 200) + "\n\n## B\n\n### C\n\n" + ingesttest.Words("c", 30) + "\n\n## D\n\n" + ingesttest.Words("d", 30),
			want: []string{"A 1-19: 202", "A > B > C 21-27: 34", "A > D 29-33: 32"}},
		{name: "slight siblings all count", in: "# A\n\n" + ingesttest.Words("a", 200) + "\n\n## --b\n\nbe\n\n## --c\n\nsee\n\n## --d\n\ndo\n",
			want: []string{"A 1-19: 202", "A > --b / --c / --d 21-31: 9"}},
		{name: "bare headings go on", in: "# A\n\n## B\n\n### C\n\n" + ingesttest.Words("c", 200) + "\n\n## D\n\n# E\n",
			want: []string{"A > B > C 1-27: 210"}},
		{name: "nothing but headings", in: "# A\n\n## B\n", want: []string{"A > B 1-3: 4"}},
		{name: "no heading", in: ingesttest.Words("w", 30), want: []string{" 1-3: 30"}},
		{name: "long section, cut evenly", in: "# A\n\n" + strings.Repeat(ingesttest.Words("w", 90)+"\n\n", 5),
			want: []string{"A 1-28: 272", "A 30-46: 180"}},
		{name: "long paragraph", in: "# A\n\n" + strings.Repeat("It is so. ", 300),
			want: []string{"A 1-3: 302", "A 3-3: 300", "A 3-3: 300"}},
		{name: "long list", in: "# A\n\n" + strings.Repeat("- "+strings.Repeat("w ", 99)+"\n", 6),
			want: []string{"A 1-5: 302", "A 6-8: 300"}},
		{name: "code is not cut", in: "# A\n\n" + ingesttest.Words("w", 240) + "\n\n```\n" + strings.Repeat("x = 1\n", 100) + "```\n\n" + ingesttest.Words("v", 240),
			want: []string{"A 1-23: 242", "A 25-126: 302", "A 128-148: 240"}},
		{name: "nor from its introduction", in: "# A\n\n" + ingesttest.Words("w", 260) + "\n\nFor example:\n\n```\n" + strings.Repeat("x = 1\n", 100) + "```\n\n**Table 1**\n\n| a |\n| --- |\n| 1 |\n",
			want: []string{"A 1-24: 262", "A 26-129: 304", "A 131-135: 11"}},
		{name: "unless it is too long", in: "# A\n\n```go\n" + strings.Repeat("x = 1\n", 300) + "```\n",
			want:  []string{"A 1-103: 304", "A 104-203: 302", "A 204-304: 302"},
			notes: []string{"3: a block of code of 902 words was split into 3 passages"}},
		{name: "a long description repeats its term", in: "# A\n\n- `-b`\n  " + strings.Repeat(strings.Repeat("w ", 199)+"\n\n  ", 4) + "\n- `-c`\n  short\n",
			want: []string{"A 1-6: 402", "A > -b 8-10: 398", "A 13-14: 3"}},
		{name: "a term is not cut from its description", in: "# A\n\n- **b**\n\n  " + strings.Repeat(strings.Repeat("w ", 299)+"\n\n  ", 2) + "\n- **c**\n\n  " + strings.Repeat("w ", 299) + "\n",
			want: []string{"A 1-5: 303", "A > b 7-7: 299", "A 10-12: 301"}},
		{name: "nor one that is not in a list", in: "# A\n\n" + ingesttest.Words("w", 260) + "\n\n`--b`\n\n" + ingesttest.Words("w", 260) + "\n",
			want: []string{"A 1-24: 262", "A 26-49: 261"}},
		{name: "long table", in: "# A\n\n| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 100),
			want:  []string{"A 1-54: 258", "A 55-104: 256"},
			notes: []string{"3: a table of 506 words was split into 2 passages"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			passages, notes := chunk.Split(parse(t, tt.in))
			if diff := cmp.Diff(tt.want, outline(passages)); diff != "" {
				t.Errorf("passages (-want +got)\n%s", diff)
			}
			var said []string
			for _, n := range notes {
				said = append(said, fmt.Sprintf("%s: %s", strings.TrimPrefix(n.Place, ":"), n.Text))
			}
			if diff := cmp.Diff(tt.notes, said); diff != "" {
				t.Errorf("notes (-want +got)\n%s", diff)
			}
		})
	}
}

func TestSplitPartsAreComplete(t *testing.T) {
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
			passages, _ := chunk.Split(parse(t, tt.in))
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
