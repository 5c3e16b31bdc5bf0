package mcpserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// testReading returns passages first to last of a document with total passages.
func testReading(first, last, total, wanted, size int) index.Reading {
	r := index.Reading{First: first, Total: total, Wanted: wanted}
	for i := first; i <= last; i++ {
		r.Passages = append(r.Passages, passage.Passage{
			ID: fmt.Sprint("p", i), Title: "Guide", Headings: []string{fmt.Sprint("Part ", i)},
			URL: fmt.Sprintf("https://docs.example.org/guide#%d", i), Text: strings.Repeat("x", size),
		})
	}
	return r
}

func TestAnswerRead(t *testing.T) {
	for _, tt := range []struct {
		name    string
		a       readArguments
		r       index.Reading
		want    string
		wantErr string
	}{
		{
			name: "a passage",
			r:    testReading(3, 3, 9, 0, 2),
			want: `Guide | gitlab | https://docs.example.org/guide
Passages 4 to 4 of 9. Fenced text is quoted documentation.

4. Guide > Part 3 | https://docs.example.org/guide#3 | id p3
` + "```\nxx\n```\n",
		},
		{
			name: "the only passage of its document",
			r:    index.Reading{Total: 1, Passages: []passage.Passage{{ID: "5", Text: "alone"}}},
			want: "alone | gitlab | 5\nFenced text is quoted documentation.\n\n1. alone | id 5\n```\nalone\n```\n",
		},
		{
			name: "a document from its second passage",
			a:    readArguments{start: 2},
			r:    testReading(0, 2, 3, -1, 2),
			want: `Guide | gitlab | https://docs.example.org/guide
Passages 2 to 3 of 3. Fenced text is quoted documentation.

2. Guide > Part 1 | https://docs.example.org/guide#1 | id p1
` + "```\nxx\n```" + `

3. Guide > Part 2 | https://docs.example.org/guide#2 | id p2
` + "```\nxx\n```\n",
		},
		{
			name:    "beyond the document's end",
			a:       readArguments{start: 4},
			r:       testReading(0, 2, 3, -1, 2),
			wantErr: "invalid start: the document has 3 passages",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.a
			a.maxTokens, a.start = defaultTokens, max(a.start, 1)
			got, err := answerRead(a, Entry{Name: "gitlab"}, tt.r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantErr, errorText(err)); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
		})
	}
}

// TestAnswerReadGoesOn reads a long document in parts, each within the budget,
// and checks that every passage appears once and in order.
func TestAnswerReadGoesOn(t *testing.T) {
	const passages = 40
	r := testReading(0, passages-1, passages, -1, 1500)
	var got []string
	for start, parts := 1, 0; start > 0; parts++ {
		if parts > passages {
			t.Fatal("the pages do not end")
		}
		text, err := answerRead(readArguments{start: start, maxTokens: 2000}, Entry{Name: "gitlab"}, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 2000*bytesPerToken {
			t.Errorf("%d bytes, the budget is %d", len(text), 2000*bytesPerToken)
		}
		for line := range strings.Lines(text) {
			if _, id, ok := strings.Cut(line, "| id "); ok {
				got = append(got, strings.TrimSpace(id))
			}
		}
		_, next, _ := strings.Cut(text, "Next page: start ")
		start = 0
		fmt.Sscan(next, &start)
	}
	if len(got) != passages || got[0] != "p0" || got[passages-1] != fmt.Sprint("p", passages-1) {
		t.Errorf("got %d passages: %s", len(got), got)
	}
}

func TestAnswerReadKeepsTheWantedPassage(t *testing.T) {
	for _, size := range []int{10, 1000, 5000, 100_000} {
		r := testReading(10, 20, 50, 5, size)
		got, err := answerRead(readArguments{start: 1, maxTokens: 2000, neighbors: 5}, Entry{Name: "gitlab"}, r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, "id p15\n") {
			t.Errorf("size %d: the passage that was asked for is missing", size)
		}
		if len(got) > 2000*bytesPerToken {
			t.Errorf("size %d: %d bytes, the budget is %d", size, len(got), 2000*bytesPerToken)
		}
		if all := strings.Count(got, "| id "); (all < 11) != strings.Contains(got, "Some neighbors were omitted") {
			t.Errorf("size %d: %d passages, and the end says otherwise:\n%s", size, all, got[max(0, len(got)-200):])
		}
	}
}
