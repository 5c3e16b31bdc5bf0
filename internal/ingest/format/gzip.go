package format

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// decompress is the reader of a file that gzip compressed, as Debian does with
// manual pages and long texts.
func decompress(name string) Parser {
	inner := strings.TrimSuffix(name, path.Ext(name))
	read := ParserFor(inner)
	if read == nil || strings.EqualFold(path.Ext(inner), ".gz") {
		return nil
	}
	return func(data []byte, name string) (document.Document, error) {
		text, err := gunzip(data)
		if err != nil {
			return document.Document{}, err
		}
		return read(text, strings.TrimSuffix(name, path.Ext(name)))
	}
}

// gunzip decompresses a file.
func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("not a gzip file")
	}
	text, err := io.ReadAll(io.LimitReader(z, MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot decompress: %w", err)
	case len(text) > MaxFile:
		return nil, fmt.Errorf("decompressed size exceeds %d MiB", MaxFile>>20)
	}
	return text, nil
}

// UncompressedName is the name of what is in a file that is compressed.
func UncompressedName(name string) string { return strings.TrimSuffix(name, ".gz") }
