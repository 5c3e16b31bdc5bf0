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

// Limits of a Markdown text. They bound the parser's time and memory: without
// them, a text of 24 KB takes 7 GB.
const (
	// maxNested limits the nesting of lists and quotes; deeper ones are text.
	// The parser checks every open block for each line.
	maxNested = 32
	// maxSteps limits how often the parser may look at lines: at least three
	// times for each line and each list or quote around it. A book of 16 MB
	// takes four million steps.
	maxSteps = 16 << 20
	// maxDefinitions limits the lines of a paragraph that is searched for link
	// definitions: the search is quadratic.
	maxDefinitions = 1000
)

// errTooNested is returned for a text that takes more than maxSteps.
var errTooNested = errors.New("lists, quotes, or tables nested too deeply")

// parseBlocks parses the blocks of a Markdown text, without inline markup,
// which is unused and slow to parse. The only error is errTooNested.
func parseBlocks(source []byte) (root ast.Node, err error) {
	defer func() {
		if r := recover(); r == errTooNested {
			root, err = nil, errTooNested
		} else if r != nil {
			panic(r)
		}
	}()
	return blockParser().Parse(&stepLimiter{Reader: text.NewReader(source), left: maxSteps}), nil
}

var blockParser = sync.OnceValue(func() parser.Parser {
	blocks := parser.DefaultBlockParsers()
	for i, b := range blocks {
		switch b.Value {
		case parser.NewListParser(), parser.NewBlockquoteParser():
			blocks[i].Value = nestingLimiter{b.Value.(parser.BlockParser)}
		}
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithParagraphTransformers(
			util.Prioritized(linkDefinitions{}, 100),
			util.Prioritized(tableLimiter{extension.NewTableParagraphTransformer()}, 200)),
	)
})

// stepLimiter is a text.Reader that panics with errTooNested after too many
// reads.
type stepLimiter struct {
	text.Reader
	left int
}

func (s *stepLimiter) take(n int) {
	if s.left -= n; s.left < 0 {
		panic(errTooNested)
	}
}

func (s *stepLimiter) PeekLine() ([]byte, text.Segment) {
	s.take(1)
	return s.Reader.PeekLine()
}

func (s *stepLimiter) Position() (int, text.Segment) {
	s.take(1)
	return s.Reader.Position()
}

// nestingLimiter opens a list or quote only up to maxNested levels.
type nestingLimiter struct{ parser.BlockParser }

func (n nestingLimiter) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for at := parent; at != nil; at = at.Parent() {
		if at.Kind() != ast.KindListItem {
			depth++
		}
	}
	// An open list must get its item, or the parser fails.
	if depth > maxNested && parent.Kind() != ast.KindList {
		return nil, parser.NoChildren
	}
	return n.BlockParser.Open(parent, reader, pc)
}

// linkDefinitions extracts link definitions from paragraphs that are short
// enough to search.
type linkDefinitions struct{}

func (linkDefinitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxDefinitions {
		parser.LinkReferenceParagraphTransformer.Transform(node, reader, pc)
	}
}

// tableLimiter converts paragraphs to tables. A table gets a cell for each row
// and column even if the text has fewer, so each cell counts as a step.
type tableLimiter struct{ parser.ParagraphTransformer }

func (t tableLimiter) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	for i := 1; i < lines.Len(); i++ {
		segment := lines.At(i)
		line := segment.Value(reader.Source())
		if columns := bytes.Count(line, []byte("|")) + 1; columns > 1 && len(bytes.Trim(line, "-:| \t\r\n")) == 0 {
			reader.(*stepLimiter).take(columns * (lines.Len() - i))
			break
		}
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}
