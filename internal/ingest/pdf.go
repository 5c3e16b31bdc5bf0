package ingest

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/md"
	"github.com/docsearch/docsearch/internal/ingest/pdf"
)

// A parsePDF reads the text of a PDF file.
type parsePDF func(ctx context.Context, data []byte) (md.Document, []pdf.SkippedPage, error)

// pdfParser is the one that runs a program for each file, or if there is none
// reads it in this process.
func pdfParser(program string) parsePDF {
	if program != "" {
		return (&pdf.Process{Path: program}).Parse
	}
	return func(_ context.Context, data []byte) (md.Document, []pdf.SkippedPage, error) { return pdf.Parse(data) }
}

// isPDF reports whether a file is a PDF file by its name, compressed or not.
func isPDF(name string) bool { return strings.EqualFold(path.Ext(unpackedName(name)), ".pdf") }

// readPDF reads the text of a PDF file. A place in it is a page.
func readPDF(ctx context.Context, parse parsePDF, data []byte, name string) (document, error) {
	if unpacked := unpackedName(name); unpacked != name {
		var err error
		if data, err = gunzip(data); err != nil {
			return document{}, err
		}
		name = unpacked
	}
	page, left, err := parse(ctx, data)
	if err != nil {
		return document{}, err
	}
	doc, err := fromMarkdown(page, name)
	if err != nil {
		return document{}, fmt.Errorf("%w: the pages may be images", err)
	}
	for _, l := range left {
		doc.leave(fmt.Sprintf("#page=%d", l.Page), "%s", l.Why)
	}
	return doc, nil
}
