package pdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
	"github.com/docsearch/docsearch/internal/ingest/format/pdf/pdftest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Argument {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func process(t *testing.T) *Process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Process{Path: program}
}

func TestProcess(t *testing.T) {
	data := file(true, lines("# A", "text", "` code"), lines("more"), strings.Repeat("q Q\n", maxOperands/2+1))
	want, wantLeft, err := Parse(data)
	if err != nil || len(wantLeft) != 1 {
		t.Fatal(err, wantLeft)
	}
	doc, left, err := process(t).Parse(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mdtest.Describe(want), mdtest.Describe(doc)) + cmp.Diff(wantLeft, left); diff != "" {
		t.Errorf("(-in this process +in its own)\n%s", diff)
	}
	if _, _, err := process(t).Parse(t.Context(), []byte("no PDF")); err == nil || !strings.HasPrefix(err.Error(), "no PDF file that can be read: ") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := process(t).Parse(ctx, data); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	if _, _, err := (&Process{Path: os.DevNull}).Parse(t.Context(), data); err == nil {
		t.Error("ran what is no program")
	}
}

// withTable returns a PDF file whose object table is a stream: entries of type,
// object and number, and more for its dictionary.
func withTable(entries [][3]int, size, more string) []byte {
	var table []byte
	for _, e := range entries {
		table = append(table, byte(e[0]))
		table = binary.BigEndian.AppendUint32(table, uint32(e[1]))
		table = append(table, byte(e[2]))
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	at := b.Len()
	fmt.Fprintf(&b, "9 0 obj\n<< /Type /XRef /Size %s /W [1 4 1] /Index [0 %d] /Root 1 0 R /Length %d %s >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		size, len(entries), len(table), more, table, at)
	return b.Bytes()
}

// hostiles returns files that make the library run forever or use all memory.
func hostiles() map[string][]byte {
	page := "<< /Type /Page /Parent 2 0 R /Contents 4 0 R %s >>"
	stream := func(content string) string {
		return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	}
	tree := "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	return map[string][]byte{
		"a table before itself":      pdftest.File("/Prev XREF", "<< /Type /Catalog /Pages 2 0 R >>", tree, fmt.Sprintf(page, ""), stream("")),
		"a tree in itself":           pdftest.File("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 5 >>"),
		"a page above itself":        pdftest.File("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R >>", fmt.Sprintf(page, ""), stream("BT /F1 10 Tf (a) Tj ET")),
		"a string without end":       pdftest.File("", "<< /Type /Catalog /Pages 2 0 R >>", tree, fmt.Sprintf(page, ""), stream("BT <ab")),
		"dictionaries in each other": pdftest.File("", "<< /Type /Catalog /Pages 2 0 R >>", tree, fmt.Sprintf(page, ""), stream(strings.Repeat("1 dict begin\n", 100_000)+strings.Repeat("x\n", 200_000))),
		"an object in itself":        withTable([][3]int{{0, 0, 0}, {2, 1, 0}}, "10", ""),
		"a table of any size":        withTable([][3]int{{0, 0, 0}}, "99999999999", ""),
		"a row of any size":          bytes.Replace(withTable([][3]int{{0, 0, 0}}, "10", ""), []byte("/W [1 4 1]"), []byte("/W [1 4 99999999999]"), 1),
	}
}

// Parsing any file ends, and does not affect this process.
func TestHostile(t *testing.T) {
	for name, data := range hostiles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := process(t)
			p.Seconds = 1
			doc, left, err := p.Parse(t.Context(), data)
			t.Logf("%v %v %s", err, left, mdtest.Describe(doc))
			if len(doc.Sections) > 0 {
				t.Error("there is nothing to read")
			}
		})
	}
}

// Circular references end by the count of the bytes read.
func TestCircular(t *testing.T) {
	for _, name := range []string{"a table before itself", "a tree in itself", "a page above itself"} {
		_, left, err := Parse(hostiles()[name])
		if err != errCircular && (err != nil || len(left) == 0) {
			t.Errorf("%s: error %v, left %v", name, err, left)
		}
	}
}

// After several files that used up their time, no more files are parsed.
func TestLate(t *testing.T) {
	p := process(t)
	p.late.Store(maxLate - 1)
	p.Seconds = 1
	if _, _, err := p.Parse(t.Context(), hostiles()["a string without end"]); err == nil || !strings.Contains(err.Error(), "processor time") {
		t.Fatalf("error %v", err)
	}
	p.Seconds = 0
	if _, _, err := p.Parse(t.Context(), file(false, lines("a"))); err == nil || !strings.HasPrefix(err.Error(), "not read: ") {
		t.Errorf("error %v", err)
	}
}
