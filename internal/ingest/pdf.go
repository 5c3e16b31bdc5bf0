package ingest

import (
	"fmt"

	"github.com/docsearch/docsearch/internal/ingest/pdf"
)

// readPDF reads the text of a PDF file. A place in it is a page.
func readPDF(data []byte, name string) (document, error) {
	page, left, err := pdf.Parse(data)
	if err != nil {
		return document{}, err
	}
	doc, err := fromMarkdown(page, name)
	if err != nil {
		return document{}, fmt.Errorf("%w: its pages may be pictures", err)
	}
	for _, l := range left {
		doc.leave(fmt.Sprintf("#page=%d", l.Page), "%s", l.Why)
	}
	return doc, nil
}
