// Package document holds the document model: lines grouped into sections and
// blocks, the form into which every parser converts a file. It knows neither file
// formats nor passages.
package document

import (
	"fmt"
	"slices"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// DroppedLine replaces a removed line. It is white space that documents hardly have as a
// line of its own, and lose without harm if they do.
const DroppedLine = "\u2028"

// MaxPassageWords is the size above which a section is split into several
// passages. Parsers need not find the blocks of a shorter one.
const MaxPassageWords = 400

// A Document is the result of parsing a file: its lines and their structure.
// Line numbers start at 1.
type Document struct {
	Title          string
	Edition        string // see passage.Passage.Edition
	NoteMeta       passage.NoteMeta
	Converted      bool // the lines were converted from another format
	Lines          []string
	Origins        []int     // source line of each line; nil if unknown or if Lines are the source
	Sections       []Section // in order; between them are only blank lines and front matter
	Notes          []Note    // problems with parts of the file
	Includes       []string  // paths of included files, and of those that were not found
	IncludesDigest string    // digest of the included files: see source.Reader

	// HTML only.
	Canonical  string   // canonical URL that the page declares
	Language   string   // language that the page declares: "en", "pt-br"
	HiddenText []string // text that readers of the page do not see; it is not in Lines
}

// AddNote records a problem with a part of the document.
func (doc *Document) AddNote(place, format string, args ...any) {
	doc.Notes = append(doc.Notes, Note{place, fmt.Sprintf(format, args...)})
}

// A Section is a heading and its text, up to the next heading of any level. The
// first section may have no heading.
type Section struct {
	Headings    []string // heading path, its own last
	First, Last int      // lines, including the heading
	Blocks      []Block  // of its own text; none if the next heading follows directly
	Anchors     []Anchor // its own first
	Links       []passage.Link
	Terms       []string // index terms
	Entry       bool     // an entry of a reference, which has a passage of its own
}

// MaxSections limits the sections of a document.
const MaxSections = 100_000

// LimitSections makes the sections beyond limit a part of the last one, with their headings
// as text.
func (doc *Document) LimitSections(limit int) {
	if len(doc.Sections) <= limit {
		return
	}
	last := &doc.Sections[limit-1]
	last.Blocks, last.Anchors, last.Links = slices.Clip(last.Blocks), slices.Clip(last.Anchors), slices.Clip(last.Links)
	for _, s := range doc.Sections[limit:] {
		heading := s.Last
		if len(s.Blocks) > 0 {
			heading = s.Blocks[0].First - 1
		}
		if heading = LastNonBlank(doc.Lines, s.First, heading); heading >= s.First {
			last.Blocks = append(last.Blocks, Block{First: s.First, Last: heading})
		}
		last.Blocks = append(last.Blocks, s.Blocks...)
		last.Anchors, last.Links = append(last.Anchors, s.Anchors...), append(last.Links, s.Links...)
		last.Last = s.Last
	}
	doc.Sections = doc.Sections[:limit]
}

// An Anchor is a fragment that leads to a line.
type Anchor struct {
	Name string
	Line int
}

// A Block is a unit that passages keep whole if possible: a paragraph, a list,
// a code block, a table.
type Block struct {
	First, Last int
	Kind        BlockKind
	Open, Close string  // lines that enclose each part of a split block
	Parts       []Block // blocks within the block, at which it may be split
	Term        string  // that the block describes, a heading for the passages of its further parts
}

// A Note is a problem that the user should know.
type Note struct {
	Place string // suffix of the file's name: ":12", "#anchor"
	Text  string
}

// BlockKind decides how an oversized block is split.
type BlockKind int

const (
	Prose  BlockKind = iota // between lines, else between sentences
	Code                    // between lines, preferably blank ones
	Markup                  // like Code
	Table                   // between lines; the header is repeated
)
