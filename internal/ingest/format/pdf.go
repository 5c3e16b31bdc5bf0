package format

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/pdf"
)

// A PDFParser extracts the text of a PDF file.
type PDFParser func(ctx context.Context, data []byte) (mdwriter.Document, []pdf.SkippedPage, error)

// NewPDFParser returns a parser that runs program for each file, or that works
// in this process if program is "".
func NewPDFParser(program string) PDFParser {
	if program != "" {
		return (&pdf.Process{Path: program}).Parse
	}
	return func(_ context.Context, data []byte) (mdwriter.Document, []pdf.SkippedPage, error) {
		return pdf.Parse(data)
	}
}

// IsPDF reports whether a file name is that of a PDF file, compressed or not.
func IsPDF(name string) bool { return strings.EqualFold(path.Ext(UncompressedName(name)), ".pdf") }

// ParsePDF parses a PDF file. Notes refer to pages.
func ParsePDF(ctx context.Context, parse PDFParser, data []byte, name string) (document.Document, error) {
	if unpacked := UncompressedName(name); unpacked != name {
		var err error
		if data, err = gunzip(data); err != nil {
			return document.Document{}, err
		}
		name = unpacked
	}
	page, left, err := parse(ctx, data)
	if err != nil {
		return document.Document{}, err
	}
	doc, err := fromMDWriter(page, name)
	if err != nil {
		return document.Document{}, fmt.Errorf("%w: the pages may be images", err)
	}
	for _, l := range left {
		doc.AddNote(fmt.Sprintf("#page=%d", l.Page), "%s", l.Why)
	}
	return doc, nil
}
