package plaintext

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func FuzzPlain(f *testing.F) {
	f.Add([]byte("Title\n=====\n\ntext\ntext\n\nSub\n---\nmore"))
	f.Add([]byte("a\n\n" + strings.Repeat("long line ", 1000)))
	f.Add([]byte("1. A\n\n   text\n\nDoe   [Page 1]\n\f\nRFC 1   Now\n\n   more\n\n1.1 B\n\n      deep\n   flat\n"))
	f.Add([]byte("*a.txt*\n\n=====================\n1. A\t*a*\n\n\t*:b* *:c*\n:b\n\tdoes\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		source, err := document.DecodeText(in)
		if err != nil {
			return
		}
		doc, err := Parse(slices.Clone(source))
		if err != nil {
			t.Fatal(err)
		}
		ingesttest.CheckPassages(t, doc, 0)
	})
}

// sections returns the heading paths and lines of the sections of a text.
func sections(t *testing.T, text string) (title string, sections []string) {
	t.Helper()
	doc, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Sections {
		sections = append(sections, fmt.Sprintf("%s %d-%d", strings.Join(s.Headings, " > "), s.First, s.Last))
	}
	return doc.Title, sections
}

func TestSections(t *testing.T) {
	for _, tt := range []struct {
		name, in, title string
		want            []string
	}{
		{"underlined", "Intro\ntext\n\nThe Title\n=========\nbelow\n\nPart\n----\n\nx\ny\n\n-----\n\nnot\n==========\n",
			"The Title", []string{" 1-3", "The Title 4-7", "The Title > Part 8-17"}},
		{"numbered", "Doe    Standards Track\nAcme   June 1999\nBolt   x\n\n        Kettle Protocol\n\n1.  Heat\n\n   Text.\n\n1.1.  Source of heat\n\n   Text.\n\n2.  Water\n\n   Text.\n\nA.  Units\n\n   Text.\n",
			"Kettle Protocol", []string{" 1-6", "1.  Heat 7-10", "1.  Heat > 1.1.  Source of heat 11-14", "2.  Water 15-18", "A.  Units 19-21"}},
		{"in a margin", "    Kettles\n\n    1. Heat\n\n        Text.\n", "Kettles", []string{" 1-2", "1. Heat 3-5"}},
		{"levels by number", "1. Heat\n-------\nText.\n\n1.1. Gas\n--------\nText.\n", "1. Heat", []string{"1. Heat 1-4", "1. Heat > 1.1. Gas 5-7"}},
		{"a title above chapters", "Kettles\n\nChapter 1. Heat\n\nText.\n", "Kettles", []string{" 1-2", "Chapter 1. Heat 3-5"}},
		{"chapters", "Chapter 1. Heat\n\n1. Gas\n\nText.\n\nChapter 2. Water\n\n1. Tap\n\nText.\n",
			"Chapter 1. Heat", []string{"Chapter 1. Heat 1-2", "Chapter 1. Heat > 1. Gas 3-6", "Chapter 2. Water 7-8", "Chapter 2. Water > 1. Tap 9-11"}},
		{"a table of contents", "Kettles\n\n1. Heat\n1.1. Gas\n2. Water\n\n1. Heat ..... 3\n\n2. Water\n\n3. Lid\n", "", nil},
		{"items of lists", "1. Fill it.\n\n   With water.\n\nThen\n\n7. Switch it on\n\n   And wait.\n", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			title, got := sections(t, tt.in)
			if tt.want == nil { // one section without a heading
				tt.want = []string{fmt.Sprintf(" 1-%d", strings.Count(tt.in, "\n"))}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || title != tt.title {
				t.Errorf("title %q (-want +got)\n%s", title, diff)
			}
		})
	}
}

// Headers and footers of pages are no text, and paragraphs continue on the next page.
func TestPages(t *testing.T) {
	footer := func(n int) string { return fmt.Sprintf("\n\n\nDoe        Standards Track     [Page %d]\n", n) }
	const header = "\f\nRFC 9999      Kettles      June 1999\n\n\n"
	pages := "   Water in a kettle\n" + footer(1) + header + "   boils at 100 degrees.\n" + footer(2) + header + "   Steam rises.\n" + footer(3) + header + "   Then tea.\n" + footer(4)
	feeds := strings.NewReplacer("Doe        Standards Track     [Page", "Doe, Inc.     page (", "]\n", ")\n").Replace(pages)
	for name, text := range map[string]string{"RFC": pages, "form feeds": feeds, "page numbers": strings.ReplaceAll(pages, "\f", "")} {
		doc, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		passages, _ := chunk.Split(doc)
		if len(passages) != 1 {
			t.Fatalf("%s: %d passages", name, len(passages))
		}
		if name == "form feeds" {
			passages[0].Text, _, _ = strings.Cut(passages[0].Text, "\n\n\n\nDoe") // after the last page, no form feed follows
		}
		want := "   Water in a kettle\n   boils at 100 degrees.\n\n   Steam rises.\n\n   Then tea."
		if diff := cmp.Diff(want, passages[0].Text); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	// A text with a single form feed has no headers.
	const text = "one\n\ftwo"
	if doc, _ := Parse([]byte(text)); strings.Join(doc.Lines, "") != "one"+"two" {
		t.Errorf("lines %q", doc.Lines)
	}
}

// A term is never cut from its description, whether a blank line is between them or not.
func TestDefinitionsStayTogether(t *testing.T) {
	for _, gap := range []string{"", "\n"} {
		for length := 40; length < 500; length += 37 {
			var text strings.Builder
			for i := range 12 {
				fmt.Fprintf(&text, "option-%d <value>\noption-%d-again <value>\n%s", i, i, gap)
				for range 3 {
					text.WriteString("  " + strings.ReplaceAll(ingesttest.Words("w", length/3), "\n", "\n  ") + "\n\n")
				}
			}
			doc, err := Parse([]byte(text.String()))
			if err != nil {
				t.Fatal(err)
			}
			passages, _ := chunk.Split(doc)
			for _, p := range passages {
				lines := strings.Split(strings.TrimSpace(p.Text), "\n")
				if last := lines[len(lines)-1]; strings.HasPrefix(last, "option") {
					t.Errorf("length %d, gap %q: a passage ends with %q", length, gap, last)
				}
				starts := strings.HasPrefix(p.Text, "option")
				if named := len(p.Headings) == 1 && strings.HasPrefix(p.Headings[0], "option-"); starts == named {
					t.Errorf("length %d, gap %q: a passage with the headings %q starts with %.20q", length, gap, p.Headings, p.Text)
				}
			}
		}
	}
}

func TestVimHelp(t *testing.T) {
	text := "*kettle.txt*\tFor Kettle version 9\n\n\nKettles\t\t\t\t*kettle*\n\n\tText.\n\n" +
		strings.Repeat("=", 78) + "\n1. Heat\t\t\t\t*heat* *warmth*\n\n" + ingesttest.Words("w", 150) + "\n\n\t\t\t\t*:boil* *E42*\n:boi[l] {n}\tBoils {n} cups.\n" +
		"\t\t" + strings.ReplaceAll(ingesttest.Words("w", 30), "\n", "\n\t\t") + "\n\n'steam'\t\t\t\t*'steam'*\n\tBoolean.\n\n\t\t\t\t*E43*\nThis is text about an error that nobody ever sees.\n"
	title, got := sections(t, text)
	want := []string{" 1-3", "Kettles 4-8", "Kettles > 1. Heat 9-24", "Kettles > 1. Heat > :boi[l] {n} 25-30", "Kettles > 1. Heat > 'steam' 31-33", "Kettles > 1. Heat > E43 34-35"}
	if diff := cmp.Diff(want, got); diff != "" || title != "Kettles" {
		t.Errorf("title %q (-want +got)\n%s", title, diff)
	}
	doc, _ := Parse([]byte(text))
	passages, _ := chunk.Split(doc)
	anchors := make(map[string][]string)
	for _, p := range passages {
		anchors[p.Headings[len(p.Headings)-1]] = p.Anchors
	}
	if diff := cmp.Diff([]string{":boil", "E42"}, anchors[":boi[l] {n}"]); diff != "" {
		t.Errorf("%q (-want +got)\n%s", anchors, diff)
	}
}
