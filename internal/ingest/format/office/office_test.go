package office

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

// pack returns a ZIP archive of files: name, content, name, content.
func pack(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// docxFile returns a DOCX file whose headings have the names of a German program.
func docxFile(t testing.TB, body string) []byte {
	return pack(t,
		"word/document.xml", `<?xml version="1.0"?><w:document><w:body>`+body+`</w:body></w:document>`,
		"word/styles.xml", `<w:styles>
			<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Mein"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style>
			<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
			<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
			<w:style w:type="paragraph" w:styleId="HeadB"><w:name w:val="HeadB"/></w:style>
			<w:style w:type="paragraph" w:styleId="V1"><w:name w:val="toc 1"/></w:style>
			<w:style w:type="paragraph" w:styleId="C"><w:name w:val="Listing"/></w:style>
			<w:style w:type="paragraph" w:styleId="F"><w:name w:val="Fixed"/><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr></w:style></w:styles>`,
		"word/numbering.xml", `<w:numbering>
			<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl><w:lvl w:ilvl="2"><w:numFmt w:val="decimal"/><w:lvlText w:val="Figure %1"/></w:lvl></w:abstractNum>
			<w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>`,
		"word/footnotes.xml", `<w:footnotes><w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"docProps/core.xml", `<cp:coreProperties><dc:title>The manual</dc:title></cp:coreProperties>`)
}

// p returns a paragraph with a style.
func p(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

func item(level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func textOf(doc mdwriter.Document) string {
	var b strings.Builder
	for _, s := range doc.Sections {
		if s.Heading != "" {
			b.WriteString(strings.Repeat("#", s.Level) + " " + s.Heading + "\n")
		}
		b.WriteString(mdwriter.Join(s.Lines) + "\n")
	}
	return strings.TrimSpace(b.String())
}

func TestDOCX(t *testing.T) {
	for in, want := range map[string]string{
		p("berschrift1", "One") + p("", "text") + p("Mein", "Two"):                  "# One\ntext\n## Two",
		p("Titel", "T") + p("V1", "One 5") + p("", "text"):                          "# T\ntext",
		p("C", "a {") + p("C", "  b") + p("C", "}") + p("", "after"):                "```\na {\n  b\n}\n```\n\nafter",
		p("HeadB", "B") + item("2", "caption"):                                      "### B\ncaption",
		p("F", "make"):                                                              "```\nmake\n```",
		item("0", "a") + item("1", "b") + item("0", "c") + p("", "d"):               "1. a\n  - b\n1. c\n\nd",
		`<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>`: "a\tb\nc",
		`<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>, new</w:t></w:r></w:ins></w:p>`:                                                    "kept, new",
		`<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id="2"/></w:r></w:p>`:                                                                                                                       "a[2]\n\n[2] A note.",
		`<w:p><w:r><w:instrText>TOC</w:instrText></w:r><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>`:                                                                               "link",
		`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r><w:r><w:t>seen</w:t></w:r></w:p>`:                                                                                             "seen",
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + p("", "box") + `</w:txbxContent></mc:Choice><mc:Fallback><w:t>again</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>`:  "box",
		`<w:tbl><w:tr><w:tc>` + p("", "a") + p("", "b") + `</w:tc><w:tc>` + p("C", "c") + `</w:tc></w:tr><w:tr><w:tc>` + p("", "d") + `</w:tc><w:tc>` + item("0", "e") + `</w:tc></w:tr></w:tbl>`: "| a b | c |\n| --- | --- |\n| d | e |",
		`<w:tbl><w:tr><w:tc>` + p("C", "framed") + `</w:tc></w:tr></w:tbl>`:                                                                                                                       "```\nframed\n```",
		`<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>` + p("", "toc") + `</w:sdtContent></w:sdt>` + p("", "x &amp; y"):      "x & y",
	} {
		doc, err := ParseDOCX(docxFile(t, in))
		if got := textOf(doc); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", in, err, got, want)
		}
		if title := map[bool]string{true: "T", false: "The manual"}[strings.HasPrefix(want, "# T")]; doc.Title != title {
			t.Errorf("%s: title %q", in, doc.Title)
		}
	}
}

func odtFile(t testing.TB, body string) []byte {
	return pack(t,
		"content.xml", `<?xml version="1.0"?><office:document-content><office:automatic-styles>
			<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>
			<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>
			<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>
			</office:automatic-styles><office:body><office:text>`+body+`</office:text></office:body></office:document-content>`,
		"meta.xml", `<office:document-meta><office:meta><dc:title>The manual</dc:title></office:meta></office:document-meta>`)
}

func TestODT(t *testing.T) {
	for in, want := range map[string]string{
		`<text:h text:outline-level="2">Two</text:h><text:p>one<text:s text:c="2"/>two<text:line-break/>three <text:span>and</text:span> four</text:p>`:                                                                                                     "## Two\none  two\nthree and four",
		`<text:p text:style-name="P1">a<text:s text:c="3"/>b</text:p><text:p text:style-name="P1">c</text:p><text:p>d</text:p>`:                                                                                                                             "```\na   b\nc\n```\n\nd",
		`<text:list text:style-name="L1"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>c</text:p><text:p>more</text:p></text:list-item></text:list>`: "1. a\n  - b\n1. c\n  more",
		`<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`:                                                                      "| a | b |\n| --- | --- |",
		`<text:p>a<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note> b</text:p>`:                                                                                                    "a[1] b\n\n[1] A note.",
		`<text:p>seen<text:span text:style-name="T1">unseen</text:span><office:annotation><text:p>remark</text:p></office:annotation></text:p>`:                                                                                                             "seen",
		`<text:table-of-content><text:index-body><text:p>toc</text:p></text:index-body></text:table-of-content><text:section><text:p>x</text:p></text:section>`:                                                                                             "x",
		`<text:p>a<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box><svg:desc>d</svg:desc></draw:frame></text:p>`:                                                                                                                              "a\n\nbox",
	} {
		doc, err := ParseODT(odtFile(t, in))
		if got := textOf(doc); err != nil || got != want || doc.Title != "The manual" {
			t.Errorf("%s: %v, title %q\n%s\nwant\n%s", in, err, doc.Title, got, want)
		}
	}
	doc, err := ParseODT(odtFile(t, `<text:p>a<text:span text:style-name="T1">unseen</text:span></text:p>`))
	if err != nil || strings.Join(doc.HiddenText, "") != "unseen" {
		t.Errorf("hidden %q, %v", doc.HiddenText, err)
	}
}

// A small archive may declare files of any size.
func TestLimits(t *testing.T) {
	bomb := docxFile(t, strings.Repeat(" ", maxBytes))
	if len(bomb) > 1<<20 {
		t.Fatalf("%d bytes", len(bomb))
	}
	for name, data := range map[string][]byte{
		"larger than 64 MiB":  bomb,
		"nested more than":    docxFile(t, strings.Repeat("<a>", 2000)),
		"no text":             docxFile(t, ""),
		"no word/document":    pack(t, "x", "y"),
		"invalid document: z": []byte("PK"),
	} {
		if _, err := ParseDOCX(data); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %s", err, name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(p("berschrift1", "One") + item("0", "a") + `<w:tbl><w:tr><w:tc>` + p("", "a") + `</w:tc></w:tr></w:tbl>`))
	f.Add([]byte(`<text:list><text:list-item><text:p>a<text:s text:c="9"/></text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p/></table:table-cell></table:table-row></table:table>`))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY b "c">]><w:p>&b;&nbsp;</x></w:p><w:p><`))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, parse := range []func() (mdwriter.Document, error){
			func() (mdwriter.Document, error) { return ParseDOCX(docxFile(t, string(in))) },
			func() (mdwriter.Document, error) { return ParseODT(odtFile(t, string(in))) },
			func() (mdwriter.Document, error) { return ParseDOCX(in) },
		} {
			if doc, err := parse(); err == nil {
				mdtest.Check(t, doc, len(in), 0)
			}
		}
	})
}
