// Package office converts documents of word processors to Markdown: DOCX, and OpenDocument
// text. Both are XML files in a ZIP archive. Styles decide what is a heading, a list or code.
// Tables of contents, indexes, comments and deleted text are left out; hidden text is kept
// separately.
package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/xmltree"
)

// maxBytes limits the decompressed size of each XML file and of all of them together.
const maxBytes = 64 << 20

// An archive reads the XML files of a document.
type archive struct {
	files map[string]*zip.File
	left  int64 // bytes that may still be decompressed
}

func openArchive(data []byte) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // harmless: no file is extracted
		return nil, fmt.Errorf("invalid document: %w", err)
	}
	a := &archive{files: map[string]*zip.File{}, left: maxBytes}
	for _, f := range z.File {
		a.files[f.Name] = f
	}
	return a, nil
}

// read parses a file.
func (a *archive) read(name string) (*xmltree.Node, error) {
	f, ok := a.files[name]
	if !ok {
		return nil, fmt.Errorf("invalid document: no %s", name)
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, a.left+1))
	if err != nil {
		return nil, fmt.Errorf("invalid document: %w", err)
	}
	if a.left -= int64(len(data)); a.left < 0 {
		return nil, fmt.Errorf("larger than %d MiB", maxBytes>>20)
	}
	return xmltree.Parse(data)
}

// A writer writes paragraphs by their role.
type writer struct {
	mdwriter.Writer
	code   []mdwriter.Line // of the block that is not written yet
	inList bool            // the last block is a list item
	notes  []string        // footnotes of the current paragraph
	hidden []string
	cells  bool // paragraphs are text of a table's cell
	cell   []string
}

// A role is what a style makes of a paragraph.
type role struct {
	heading int // level; 0: none
	title   bool
	code    bool
	skip    bool   // of a table of contents
	mark    string // of a list item; "": none
	indent  int    // level of a list item, from 0
}

// paragraph writes a paragraph.
func (w *writer) paragraph(text string, r role) {
	notes := w.notes
	w.notes = nil
	switch {
	case r.skip:
		return
	case w.cells:
		if text = strings.TrimSpace(text); text != "" {
			w.cell = append(w.cell, text)
		}
		w.notes = notes
		return
	case r.code:
		for line := range strings.SplitSeq(text, "\n") {
			w.code = append(w.code, mdwriter.Line{Text: strings.TrimRight(line, " ")})
		}
		w.notes = notes
		return
	}
	w.flush()
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return
	case r.title:
		w.Title = strings.Join(strings.Fields(text), " ")
		w.Heading(1, text, 0)
	case r.heading > 0:
		w.Heading(r.heading, mdwriter.Plain(text), 0)
	case r.mark != "":
		const deepest = 8
		indent := strings.Repeat("  ", min(r.indent, deepest))
		if w.inList {
			w.Tight()
		}
		w.Push(indent+r.mark, indent+strings.Repeat(" ", len(r.mark)))
		w.Text(text, 0)
		w.Pop()
	default:
		w.Text(text, 0)
	}
	w.inList = r.mark != ""
	for _, note := range notes {
		w.Text(note, 0)
	}
}

// flush writes the code block.
func (w *writer) flush() {
	if len(w.code) > 0 {
		w.Code("", w.code)
		w.code, w.inList = nil, false
	}
	notes := w.notes
	w.notes = nil
	for _, note := range notes {
		w.Text(note, 0)
	}
}

// note adds a footnote to the current paragraph and returns its mark in the text.
func (w *writer) note(mark, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	if mark == "" {
		mark = "*"
	}
	w.notes = append(w.notes, "["+mark+"] "+text)
	return "[" + mark + "]"
}

// table writes a table. row calls the function that writes the paragraphs of a cell.
func (w *writer) table(rows [][]func()) {
	if w.cells { // within another table's cell
		for _, r := range rows {
			for _, cell := range r {
				cell()
			}
		}
		return
	}
	w.flush()
	var out []mdwriter.Row
	single := true
	for _, r := range rows {
		var row mdwriter.Row
		for _, cell := range r {
			w.cells, w.cell = true, nil
			cell()
			row.Cells = append(row.Cells, strings.Join(w.cell, " "))
		}
		w.cells = false
		single = single && len(row.Cells) < 2
		if strings.Join(row.Cells, "") != "" {
			out = append(out, row)
		}
	}
	if single { // a frame around text
		for _, r := range rows {
			for _, cell := range r {
				cell()
			}
		}
		return
	}
	w.inList = false
	if len(out) > 0 {
		w.Table(out)
	}
	w.flush()
}

// isCodeStyle reports whether the name of a style is that of a style for code.
func isCodeStyle(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_20_", "", " ", "", "-", "").Replace(name))
	for _, mark := range []string{"code", "preformatted", "sourcetext", "listing", "verbatim", "programlisting"} {
		if strings.Contains(name, mark) {
			return !strings.Contains(name, "heading") && !strings.Contains(name, "caption")
		}
	}
	return false
}

// isFixed reports whether a font has a fixed width.
func isFixed(font string) bool {
	for _, mark := range []string{"Courier", "Consolas", "Mono", "Menlo", "Typewriter"} {
		if strings.Contains(font, mark) {
			return true
		}
	}
	return false
}

// document returns the written document.
func (w *writer) document(title string) (mdwriter.Document, error) {
	w.flush()
	if w.Title == "" {
		w.Title = strings.Join(strings.Fields(title), " ")
	}
	doc := w.Document()
	doc.HiddenText = w.hidden
	if len(doc.Sections) == 0 {
		return doc, errors.New("no text")
	}
	return doc, nil
}
