package ingest

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/asciidoc"
	"github.com/docsearch/docsearch/internal/ingest/man"
	"github.com/docsearch/docsearch/internal/ingest/rst"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// A document is what every reader makes of a file: its lines, and how they
// belong together. Lines are counted from 1, as people do.
type document struct {
	title    string
	edition  string // see passage.Passage.Edition
	use      passage.NoteMeta
	made     bool // of something else: the lines are not the file's
	lines    []string
	from     []int     // the file's line that each of the lines was made of; nil if none is known, or if they are the file's
	sections []section // in order, without gaps but blank lines and front matter
	left     []note    // what of the file is not in it
	includes []string  // paths by which the file includes others
	included string    // see stock.included

	// Of HTML only.
	canonical string   // the URL that it gives for itself
	language  string   // as it names it: "en", "pt-br"
	hidden    []string // text that its readers do not see, which is in no line
}

// A section is a heading and what stands under it, up to the next heading of
// whatever level. The first may have no heading.
type section struct {
	headings    []string // the path to it, its own last
	first, last int      // lines, the heading's included
	blocks      []block  // of its own text; none where other headings follow at once
	anchors     []anchor // that lead to it or into it, its own first
	links       []passage.Link
	terms       []string // what an index calls it
}

// An anchor is a fragment that leads to a line.
type anchor struct {
	name string
	line int
}

// A block is what a passage should not be cut in: a paragraph, a list, a piece
// of code, a table.
type block struct {
	first, last int
	kind        kind
	open, close string  // lines that a part of the block is wrapped in
	parts       []block // what it may be cut into, if it is made of blocks itself
}

// A kind says how a block that alone is too long is cut.
type kind int

const (
	prose  kind = iota // between lines, else between sentences
	code               // between lines, better at blank ones
	markup             // the same
	table              // between lines, the first ones repeated
)

// A reader makes a document of a file's bytes. The error says why the file has
// nothing to read; nothing is an error for being malformed.
type reader func(data []byte, name string) (document, error)

// plainNames are those of the texts without an ending that are read.
var plainNames = [...]string{"README", "INSTALL", "CHANGELOG", "CHANGES", "NEWS", "HACKING", "CONTRIBUTING", "FAQ"}

const typesRead = ".html, .md, .mdx, .rst, .adoc, .txt, .ipynb, .epub, .pdf, man and info pages, source code"

// ofText is the reader of files that are text as they are.
func ofText(read func(text []byte) (document, error)) reader {
	return func(data []byte, _ string) (document, error) {
		text, err := clean(data)
		if err != nil {
			return document{}, err
		}
		return read(text)
	}
}

// readerOf chooses the reader by the file's name; nil where there is none.
func readerOf(name string) reader {
	if isMarkdownFile(name) {
		return ofText(readMarkdown)
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".html", ".htm", ".xhtml":
		return readHTML
	case ".mdx":
		return ofText(readMDX)
	case ".rst", ".rest":
		return made(rst.Parse)
	case ".adoc", ".asciidoc":
		return made(asciidoc.Parse)
	case ".ipynb":
		return readNotebook
	case ".epub":
		return readEPUB
	case ".pdf":
		return func(data []byte, name string) (document, error) {
			return readPDF(context.Background(), pdfParser(""), data, name)
		}
	case ".info":
		return readInfo
	case ".gz":
		return packed(name)
	case ".txt", ".text":
		return ofText(readPlain)
	case "":
		if slices.Contains(plainNames[:], strings.ToUpper(name[strings.LastIndexAny(name, `/\`)+1:])) {
			return ofText(readPlain)
		}
		if isMetadata(name) {
			return readMetadata
		}
	default:
		switch {
		case isManual(ext):
			return madeIf(man.Parse)
		case strings.HasPrefix(ext, ".info-"): // a part of a long one
			return readInfo
		case source.Reads(ext):
			return readSource
		}
	}
	return nil
}

func isMarkdownFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd":
		return true
	}
	return false
}

// headings keeps the path of headings while a document is read.
type headings struct {
	levels []int
	path   []string
}

// maxHeadings is how many headings a path has. Beyond, the innermost one stands
// for those around it.
const maxHeadings = 16

// push enters the section of a heading and returns its path.
func (h *headings) push(level int, text string) []string {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] >= level {
		n--
	}
	n = min(n, maxHeadings-1)
	h.levels = append(h.levels[:n], level)
	h.path = append(h.path[:n:n], shorten(text)) // a copy: sections keep theirs
	return h.path
}

// back returns to the section of a heading of that level, or the nearest above,
// and returns its path.
func (h *headings) back(level int) []string {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] > level {
		n--
	}
	h.levels, h.path = h.levels[:n], h.path[:n:n]
	return h.path
}

// shorten keeps the beginning of a heading that is longer than any real one: a
// paragraph that was underlined by mistake, many headings side by side.
func shorten(text string) string {
	const longest = 200
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "..."
}

// words measures text by the effort of its reader: its words, where a long
// one, or two signs of a script without spaces, count as more.
func words(s string) int {
	var m measure
	for _, r := range s {
		m.add(r)
	}
	return m.words()
}

// A measure counts words sign by sign.
type measure struct {
	halves int // of words
	length int // of the word at the end
}

func (m *measure) add(r rune) {
	switch {
	case r < 0x80 && r != ' ' && r != '\t' && r != '\n':
		m.length++
	case unicode.IsSpace(r):
		m.halves, m.length = m.halves+m.last(), 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		m.halves, m.length = m.halves+m.last()+1, 0
	default:
		m.length++
	}
}

// last is what the word at the end counts, in halves.
func (m *measure) last() int {
	const long = 32
	if m.length == 0 {
		return 0
	}
	return 2 * (1 + m.length/long)
}

func (m *measure) words() int { return (m.halves + m.last() + 1) / 2 }
