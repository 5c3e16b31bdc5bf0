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

// decompress returns a parser for a gzip-compressed file. Debian compresses man
// pages and long texts.
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

// gunzip decompresses a file of at most MaxFile bytes.
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

// UncompressedName returns the name of a file without the extension .gz.
func UncompressedName(name string) string { return strings.TrimSuffix(name, ".gz") }
