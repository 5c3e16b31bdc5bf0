package format

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func zipEPUB(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func kettleBook() map[string]string {
	return map[string]string{
		"mimetype":               "application/epub+zip",
		"META-INF/container.xml": `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf": `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The
			Kettle</dc:title></metadata><manifest><item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/>
			<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="i" href="i.png" media-type="image/png"/>
			<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>
			<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="i"/><itemref idref="gone"/><itemref idref="a"/></spine></package>`,
		"OEBPS/a.xhtml":   `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>First</h1><p>` + ingesttest.Words("one", 130) + `</p><h2 id="sub">Sub</h2><pre>code</pre></body></html>`,
		"OEBPS/b c.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Second</h1><p>` + ingesttest.Words("two", 130) + `</p></body></html>`,
	}
}

func TestParseEPUB(t *testing.T) {
	doc, err := parseEPUB(zipEPUB(t, kettleBook()), "kettle.epub")
	if err != nil {
		t.Fatal(err)
	}
	passages, notes := chunk.Split(doc)
	var got []string
	for _, p := range passages {
		got = append(got, fmt.Sprintf("%s %s %d", strings.Join(p.Headings, " > "), p.Anchors, p.StartLine))
	}
	want := []string{"First [a.xhtml] 0", "First > Sub [a.xhtml#sub] 0", "Second [b c.xhtml] 0"}
	if diff := cmp.Diff(want, got); diff != "" || doc.Title != "The Kettle" {
		t.Errorf("title %q, passages (-want +got)\n%s", doc.Title, diff)
	}
	if len(notes) != 1 || notes[0].Place != "#gone.xhtml" {
		t.Errorf("notes %v", notes)
	}
	for name, files := range map[string]map[string]string{
		"no container": {"a": "x"},
		"no package":   {"META-INF/container.xml": `<container><rootfiles><rootfile full-path="x"/></rootfiles></container>`},
		"no chapters": {"META-INF/container.xml": `<container><rootfiles><rootfile full-path="x"/></rootfiles></container>`,
			"x": `<package><spine><itemref idref="a"/></spine></package>`},
	} {
		if _, err := parseEPUB(zipEPUB(t, files), "a.epub"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzEPUB(f *testing.F) {
	files := kettleBook()
	f.Add(files["META-INF/container.xml"], files["OEBPS/book.opf"], files["OEBPS/a.xhtml"])
	f.Fuzz(func(t *testing.T, container, opf, chapter string) {
		data := zipEPUB(t, map[string]string{"META-INF/container.xml": container, "OEBPS/book.opf": opf, "OEBPS/a.xhtml": chapter})
		checkConverted(t, parseEPUB, "a.epub", data)
	})
}
