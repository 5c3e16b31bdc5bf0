package markdown

import (
	"bytes"
	"errors"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds of one Markdown text. They hold the time and the memory that the
// parser takes: without them, a text of 24 KB takes 7 GB.
const (
	// maxNested is how deep lists and quotes may nest; deeper ones are text.
	// The parser looks at every open block for each line.
	maxNested = 32
	// maxSteps is how often the parser may look at a line: three times or more
	// for each line and each list or quote that it stands in. A book of 16 MB
	// takes four million.
	maxSteps = 16 << 20
	// maxDefinitions is how many lines a paragraph may have that is searched
	// for definitions of links: the search takes the square of their number.
	maxDefinitions = 1000
)

// errTooNested is the error of a text that takes more than maxSteps.
var errTooNested = errors.New("lists, quotes, or tables nested too deeply")

// parseBlocks finds the blocks of a Markdown text and leaves their inline
// markup alone: nobody asks for it, and it is slow to parse. The error is
// errTooNested.
func parseBlocks(source []byte) (root ast.Node, err error) {
	defer func() {
		if r := recover(); r == errTooNested {
			root, err = nil, errTooNested
		} else if r != nil {
			panic(r)
		}
	}()
	return blockParser().Parse(&steps{Reader: text.NewReader(source), left: maxSteps}), nil
}

var blockParser = sync.OnceValue(func() parser.Parser {
	blocks := parser.DefaultBlockParsers()
	for i, b := range blocks {
		switch b.Value {
		case parser.NewListParser(), parser.NewBlockquoteParser():
			blocks[i].Value = nested{b.Value.(parser.BlockParser)}
		}
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithParagraphTransformers(
			util.Prioritized(definitions{}, 100),
			util.Prioritized(tables{extension.NewTableParagraphTransformer()}, 200)),
	)
})

// steps is a text.Reader that counts how often the parser looks at a line, and
// panics with errTooNested when that was too often.
type steps struct {
	text.Reader
	left int
}

func (s *steps) take(n int) {
	if s.left -= n; s.left < 0 {
		panic(errTooNested)
	}
}

func (s *steps) PeekLine() ([]byte, text.Segment) {
	s.take(1)
	return s.Reader.PeekLine()
}

func (s *steps) Position() (int, text.Segment) {
	s.take(1)
	return s.Reader.Position()
}

// nested opens a list or a quote unless too many are open around it.
type nested struct{ parser.BlockParser }

func (n nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for at := parent; at != nil; at = at.Parent() {
		if at.Kind() != ast.KindListItem {
			depth++
		}
	}
	// Below a list, the next thing is its item, and the parser must know.
	if depth > maxNested && parent.Kind() != ast.KindList {
		return nil, parser.NoChildren
	}
	return n.BlockParser.Open(parent, reader, pc)
}

// definitions takes definitions of links out of paragraphs that are not too
// long to be searched.
type definitions struct{}

func (definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxDefinitions {
		parser.LinkReferenceParagraphTransformer.Transform(node, reader, pc)
	}
}

// tables makes tables of paragraphs. A table has a cell for each row and
// column, whether or not the text has: they count as steps.
type tables struct{ parser.ParagraphTransformer }

func (t tables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	for i := 1; i < lines.Len(); i++ {
		segment := lines.At(i)
		line := segment.Value(reader.Source())
		if columns := bytes.Count(line, []byte("|")) + 1; columns > 1 && len(bytes.Trim(line, "-:| \t\r\n")) == 0 {
			reader.(*steps).take(columns * (lines.Len() - i))
			break
		}
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}
