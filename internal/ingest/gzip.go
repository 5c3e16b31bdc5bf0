package ingest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/info"
)

// packed is the reader of a file that gzip compressed, as Debian does with
// manual pages and long texts.
func packed(name string) reader {
	inner := strings.TrimSuffix(name, path.Ext(name))
	read := readerOf(inner)
	if read == nil || strings.EqualFold(path.Ext(inner), ".gz") {
		return nil
	}
	return func(data []byte, name string) (document, error) {
		text, err := gunzip(data)
		if err != nil {
			return document{}, err
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
	text, err := io.ReadAll(io.LimitReader(z, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot decompress: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("decompressed size exceeds %d MiB", maxFile>>20)
	}
	return text, nil
}

// readInfo reads a file of GNU's info, whose marks have bytes of zero in them.
func readInfo(data []byte, name string) (document, error) {
	return madeIf(info.Parse)(bytes.ReplaceAll(fromUTF16(data), []byte{0}, nil), name)
}

// isManual reports whether a file's ending is that of manual pages: a section,
// and maybe letters after it.
func isManual(ext string) bool {
	return len(ext) >= 2 && len(ext) <= 8 && ext[1] >= '1' && ext[1] <= '9' && strings.Trim(ext[2:], "abcdefghijklmnopqrstuvwxyz") == ""
}
