package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

// file returns a PDF file with these page contents, optionally compressed. It
// has the fonts F1, and F2 with fixed width.
func file(compressed bool, pages ...string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 6+2*i))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>")
	object("<< /Title (The Kettle) >>")
	for i, content := range pages {
		object("<< /Type /Page /Parent 2 0 R /Contents %d 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>", 7+2*i)
		filter := ""
		if compressed {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			w.Write([]byte(content))
			w.Close()
			content, filter = z.String(), "/Filter /FlateDecode "
		}
		object("<< %s/Length %d >>\nstream\n%s\nendstream", filter, len(content), content)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	return b.Bytes()
}

// lines returns the operators for lines of text, each in a font and size.
func lines(texts ...string) string {
	b := strings.Builder{}
	b.WriteString("BT 72 720 Td 14 TL\n")
	for _, t := range texts {
		font, size, text := "F1", "10", t
		if rest, ok := strings.CutPrefix(t, "# "); ok {
			size, text = "18", rest
		} else if rest, ok := strings.CutPrefix(t, "` "); ok {
			font, text = "F2", rest
		}
		fmt.Fprintf(&b, "/%s %s Tf (%s) Tj T*\n", font, size, text)
	}
	b.WriteString("ET\n")
	return b.String()
}

func TestParse(t *testing.T) {
	head, foot := "Kettle manual", "Page %d of 3"
	page := func(n int, texts ...string) string {
		return lines(append(append([]string{head, ""}, texts...), "", fmt.Sprintf(foot, n))...)
	}
	pages := []string{
		page(1, "# Boiling", "How to boil wa-", "ter in a kettle.", "", "More of it, so that this is", "the size of most of the text."),
		page(2, "goes on here.", "` boil 1", "`   --now", "# Pouring", "Slowly.") + "BT /F1 10 Tf 72 300 Td [(Ker) -20 (ned) -300 (words)] TJ ET",
		page(3, "The end."),
	}
	want := `title: The Kettle

=== 0 # Boiling {#page=1 +0}
   0  How to boil water
   0  in a kettle.
   0
   0  More of it, so that this is
   0  the size of most of the text.

=== 0 #  {#page=2 +0}
   0  goes on here.
   0
   0  ` + "```" + `
   0  boil 1
   0    --now
   0  ` + "```" + `

=== 0 # Pouring {#page=2 +0}
   0  Slowly.
   0
   0  Kerned words

=== 0 #  {#page=3 +0}
   0  The end.
`
	for _, compressed := range []bool{false, true} {
		doc, left, err := Parse(file(compressed, pages...))
		if err != nil || len(left) > 0 {
			t.Fatal(err, left)
		}
		if diff := cmp.Diff(want, mdtest.Describe(doc)); diff != "" {
			t.Errorf("compressed %v (-want +got)\n%s", compressed, diff)
		}
	}
}

func TestDamaged(t *testing.T) {
	whole := file(true, lines("text"))
	for name, data := range map[string][]byte{
		"empty":            nil,
		"no PDF":           []byte("hello"),
		"half":             whole[:len(whole)/2],
		"a bomb":           file(true, strings.Repeat(" ", maxStream+1)),
		"compressed twice": bytes.Replace(whole, []byte("/Filter /FlateDecode"), []byte("/Filter [/FlateDecode /FlateDecode]"), 1),
	} {
		if doc, _, err := Parse(data); err == nil {
			t.Errorf("%s: %s", name, mdtest.Describe(doc))
		}
	}
	_, left, err := Parse(file(false, lines("text"), strings.Repeat("q Q\n", maxOperands/2+1)))
	if diff := cmp.Diff([]SkippedPage{{2, "too much on one page"}}, left); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(false, lines("# A", "text", "` code"), "BT /F1 9 Tf 1 0 0 1 5 5 Tm [(a) -300 (b)] TJ 0 -9 TD (c) ' q 2 0 0 2 0 0 cm Q ET"))
	f.Add(file(true, lines("# B", "more")))
	for _, data := range hostiles() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		p := process(t)
		p.Seconds = 1
		doc, _, err := p.Parse(t.Context(), in)
		if err == nil {
			// Compressed contents may expand a thousandfold.
			mdtest.Check(t, doc, 10*len(in), 0)
		}
	})
}

// Running headers and footers change with the chapter. They are recognized by their
// place; a heading that several pages begin with is not one.
func TestRunningHeaders(t *testing.T) {
	at := func(y int, text string) string { return fmt.Sprintf("BT /F1 10 Tf 72 %d Td (%s) Tj ET\n", y, text) }
	body := func(n int) string {
		return at(700, fmt.Sprintf("Text of page %d begins here.", n)) + at(688, "It goes on for a while.") + at(676, fmt.Sprintf("It ends with %d.", n))
	}
	chapters := []string{"Boiling", "Pouring", "Cleaning", "Storing", "Repairing"}
	var running, headings []string
	for n := range 15 {
		chapter := chapters[n/3]
		foot := at(40, fmt.Sprintf("%s - %d", strings.ToLower(chapter), n+1))
		running = append(running, at(750, "Chapter "+chapter)+at(750, fmt.Sprint(n+1))+body(n)+foot)
		headings = append(headings, at(700, fmt.Sprintf("Parameters of %s", chapter))+at(688, "This is the text.")+at(676, fmt.Sprintf("It ends with %d.", n)))
	}
	text := func(pages []string) string {
		doc, _, err := Parse(file(false, pages...))
		if err != nil {
			t.Fatal(err)
		}
		return mdtest.Describe(doc)
	}
	got := text(running)
	for _, chapter := range chapters {
		if strings.Contains(got, chapter) || strings.Contains(got, strings.ToLower(chapter)) {
			t.Errorf("the header or the footer of %s is left:\n%s", chapter, got)
		}
	}
	if n := strings.Count(got, "begins here"); n != 15 {
		t.Errorf("%d of 15 pages have their text:\n%s", n, got)
	}
	if got := text(headings); strings.Count(got, "Parameters of") != 15 {
		t.Errorf("headings are missing:\n%s", got)
	}
}
