package plaintext

import (
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A paragraph is consecutive lines that are not blank.
type paragraph struct {
	first, last int
	indent      int // of the line with the least indentation, in columns
}

// maxNested limits how deep blocks are nested. Deeper indentation is that of code.
const maxNested = 8

// blocksOf makes blocks of paragraphs. A paragraph is one block with the following ones that
// are indented further, which describe or show what it names.
func blocksOf(lines []string, list []paragraph, depth int) []document.Block {
	var blocks []document.Block
	for i := 0; i < len(list); {
		p := list[i]
		n := i + 1
		for depth > 0 && n < len(list) && list[n].indent > p.indent {
			n++
		}
		b := document.Block{First: p.first, Last: p.last, Parts: entriesOf(lines, p)}
		if n > i+1 {
			parts := blocksOf(lines, list[i+1:n], depth-1)
			parts[0] = headed(p.first, parts[0])
			b = document.Block{First: p.first, Last: list[n-1].last, Parts: parts, Term: termOf(lines, p)}
		}
		blocks = append(blocks, b)
		i = n
	}
	return blocks
}

// termOf returns the term at the start of a paragraph, or "". A paragraph that has a term is
// one or several of them, with the start of their description or without.
func termOf(lines []string, p paragraph) string {
	const mostTerms, longest = 4, 100 // lines and bytes
	terms := 0
	for i := p.first; i <= p.last; i++ {
		line := strings.TrimSpace(lines[i-1])
		switch {
		case indentOf(lines[i-1]) > p.indent:
		case i > p.first+terms, terms == mostTerms, line == "", len(line) > longest,
			strings.ContainsAny(line[len(line)-1:], ".,:;!?"):
			return "" // text below the description, or no term
		default:
			terms++
		}
	}
	if terms == 0 {
		return ""
	}
	return strings.TrimSpace(lines[p.first-1])
}

// headed returns a block that starts with line first, that of the term above it. If the block
// is split, the term stays with its first part.
func headed(first int, b document.Block) document.Block {
	b.First = first
	if len(b.Parts) > 0 {
		b.Parts[0] = headed(first, b.Parts[0])
	}
	return b
}

// entriesOf splits a paragraph before each line that is indented less than the one above it:
// the term of the next definition. It returns nil if there is only one.
func entriesOf(lines []string, p paragraph) []document.Block {
	var parts []document.Block
	first, deeper := p.first, false
	for i := p.first; i <= p.last; i++ {
		switch line := lines[i-1]; {
		case line == document.DroppedLine:
		case indentOf(line) > p.indent:
			deeper = true
		case deeper:
			parts = append(parts, document.Block{First: first, Last: i - 1})
			first, deeper = i, false
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return append(parts, document.Block{First: first, Last: p.last})
}

// indentOf returns the indentation of a line in columns.
func indentOf(line string) int {
	const tab = 8
	column := 0
	for _, c := range []byte(line[:len(line)-len(strings.TrimLeft(line, " \t"))]) {
		if column++; c == '\t' {
			column = (column + tab - 1) / tab * tab
		}
	}
	return column
}
