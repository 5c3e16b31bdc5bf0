package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// maxRows limits the rows of a table. Longer ones are data.
const maxRows = 20_000

// parseTable parses a file of values that are separated by commas, semicolons or tabs. It is
// a document only if it has text: words in a quarter of its cells.
func parseTable(data []byte, name string) (document.Document, error) {
	if len(data) > maxData {
		return document.Document{}, fmt.Errorf("data larger than %d MiB", maxData>>20)
	}
	return convertErr(func(text []byte) (mdwriter.Document, error) {
		r := csv.NewReader(bytes.NewReader(text))
		r.FieldsPerRecord, r.LazyQuotes, r.Comma = -1, true, separator(text)
		if strings.EqualFold(path.Ext(name), ".tsv") {
			r.Comma = '\t'
		}
		var rows []mdwriter.Row
		cells, words := 0, 0
		for len(rows) <= maxRows {
			fields, err := r.Read()
			if err != nil {
				break // the end, or no table from here on
			}
			line, _ := r.FieldPos(0)
			rows = append(rows, mdwriter.Row{Cells: fields, From: line})
			for _, f := range fields {
				if f != "" {
					cells++
				}
				if strings.ContainsFunc(f, unicode.IsLetter) {
					words++
				}
			}
		}
		switch {
		case len(rows) > maxRows:
			return mdwriter.Document{}, fmt.Errorf("data with more than %d rows", maxRows)
		case len(rows) < 2 || words*4 < cells:
			return mdwriter.Document{}, errors.New("data without text")
		}
		var w mdwriter.Writer
		w.Title = path.Base(name)
		w.Table(rows)
		return w.Document(), nil
	})(data, name)
}

// separator returns the separator that the first line has most often.
func separator(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t', '|'} {
		if n := bytes.Count(line, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}
