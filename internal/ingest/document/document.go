// Package document holds the document model: lines grouped into sections and
// blocks, the form into which every parser converts a file. It knows neither file
// formats nor passages.
package document

import (
	"fmt"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// DroppedLine is what stands in place of a line that is left out: white space, that
// no document has as a line of its own.
const DroppedLine = "\u2028"

// MaxPassageWords is the size above which a section is split into several
// passages. Parsers need not find the blocks of a shorter one.
const MaxPassageWords = 400

// A document is what every reader makes of a file: its lines, and how they
// belong together. Lines are counted from 1, as people do.
type Document struct {
	Title          string
	Edition        string // see passage.Passage.Edition
	NoteMeta       passage.NoteMeta
	Converted      bool // of something else: the lines are not the file's
	Lines          []string
	Origins        []int     // the file's line that each of the lines was made of; nil if none is known, or if they are the file's
	Sections       []Section // in order, without gaps but blank lines and front matter
	Notes          []Note    // what of the file is not in it
	Includes       []string  // paths by which the file includes others
	IncludesDigest string    // see stock.included

	// Of HTML only.
	Canonical  string   // the URL that it gives for itself
	Language   string   // as it names it: "en", "pt-br"
	HiddenText []string // Text that its readers do not see, which is in no line
}

// AddNote records a problem with a part of the document.
func (doc *Document) AddNote(place, format string, args ...any) {
	doc.Notes = append(doc.Notes, Note{place, fmt.Sprintf(format, args...)})
}

// A section is a heading and what stands under it, up to the next heading of
// whatever level. The first may have no heading.
type Section struct {
	Headings    []string // the path to it, its own last
	First, Last int      // Lines, the heading's included
	Blocks      []Block  // of its own text; none where other headings follow at once
	Anchors     []Anchor // that lead to it or into it, its own first
	Links       []passage.Link
	Terms       []string // what an index calls it
}

// An anchor is a fragment that leads to a line.
type Anchor struct {
	Name string
	Line int
}

// A block is what a passage should not be cut in: a paragraph, a list, a piece
// of code, a table.
type Block struct {
	First, Last int
	Kind        BlockKind
	Open, Close string  // Lines that a part of the block is wrapped in
	Parts       []Block // what it may be cut into, if it is made of blocks itself
}

// A note says what the cutting did that the user should know.
type Note struct {
	Place string // behind the file's name: ":12", "#anchor"
	Text  string
}

// A kind says how a block that alone is too long is cut.
type BlockKind int

const (
	Prose  BlockKind = iota // between lines, else between sentences
	Code                    // between lines, better at blank ones
	Markup                  // the same
	Table                   // between lines, the first ones repeated
)
