package plaintext

import (
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A pageBreak is the place between two pages of a printed text.
type pageBreak struct {
	above, below int  // indexes of the lines with text above and below; -1 and the number of lines if there are none
	numbered     bool // a line with the page's number is between them
}

// dropPageBreaks drops the headers and footers of the pages of a printed text, the form feeds
// and the blank lines around them, so that paragraphs continue on the next page. Headers and
// footers are lines with "[Page 12]", and lines that half of the pages have at that place,
// apart from digits.
func dropPageBreaks(lines []string) {
	breaks := pageBreaks(lines)
	footers, headers := make(map[string]int), make(map[string]int)
	for _, b := range breaks {
		if b.above >= 0 && !b.numbered {
			footers[shapeOf(lines[b.above])]++
		}
		if b.below < len(lines) {
			headers[shapeOf(lines[b.below])]++
		}
	}
	const few = 3
	most := max(few, len(breaks)/2)
	for _, b := range breaks {
		if b.above >= 0 && !b.numbered && footers[shapeOf(lines[b.above])] >= most {
			b.above = textBefore(lines, b.above)
		}
		if b.below < len(lines) && headers[shapeOf(lines[b.below])] >= most {
			b.below = textAfter(lines, b.below)
		}
		first := b.above + 1
		if b.above >= 0 && b.below < len(lines) && !continues(lines[b.above], lines[b.below]) {
			lines[first] = ""
			first++
		}
		for i := first; i < b.below; i++ {
			lines[i] = document.DroppedLine
		}
	}
}

// pageBreaks finds the page breaks of a text: form feeds, and lines with the number of a page.
// It removes the form feeds.
func pageBreaks(lines []string) []pageBreak {
	var breaks []pageBreak
	for i := 0; i < len(lines); i++ {
		numbered := isPageNumber(lines[i])
		if !numbered && !strings.HasPrefix(lines[i], "\f") {
			continue
		}
		b := pageBreak{above: textBefore(lines, i), numbered: numbered}
		if numbered {
			i++
		}
		for ; i < len(lines); i++ {
			if lines[i] = strings.TrimLeft(lines[i], "\f"); !document.IsBlank(lines[i]) {
				break
			}
		}
		b.below = i
		breaks = append(breaks, b)
	}
	return breaks
}

// isPageNumber reports whether a line is the footer of a page in the form of RFCs.
func isPageNumber(line string) bool {
	line = strings.TrimRight(line, " \t")
	at := strings.LastIndex(line, "[Page ")
	return at >= 0 && strings.HasSuffix(line, "]") &&
		strings.Trim(line[at+len("[Page "):len(line)-1], "0123456789ivxlc ") == ""
}

// textBefore and textAfter return the index of the next line with text before or after lines[i].
func textBefore(lines []string, i int) int {
	for i--; i >= 0 && document.IsBlank(lines[i]); i-- {
	}
	return i
}

func textAfter(lines []string, i int) int {
	for i++; i < len(lines) && document.IsBlank(lines[i]); i++ {
	}
	return i
}

// shapeOf returns a line without its digits and indentation, which differ between the pages.
func shapeOf(line string) string {
	return strings.Join(strings.FieldsFunc(line,
		func(r rune) bool { return r == ' ' || r == '\t' || '0' <= r && r <= '9' }), " ")
}

// continues reports whether the paragraph that ends a page continues on the next one.
func continues(above, below string) bool {
	above = strings.TrimRight(above, " \t")
	return indentOf(above) == indentOf(below) && !strings.ContainsAny(above[len(above)-1:], ".:;!?")
}
