package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/generation"
)

// A folderStock is the files of a folder.
type folderStock struct {
	root   *os.Root
	filter filter
	pdf    parsePDF
}

func (s folderStock) load(it *item) ([]byte, error) {
	data, info, err := readFile(s.root, it.name)
	if info != nil {
		it.size, it.modTime = info.Size(), info.ModTime()
	}
	return data, err
}

func (s folderStock) parse(ctx context.Context, data []byte, it *item) (document, error) {
	if isPDF(it.name) {
		return readPDF(ctx, s.pdf, data, it.name)
	}
	if isMarkdownFile(it.name) {
		return s.readPage(data, it.name)
	}
	return readerOf(it.name)(data, it.name)
}

// readPage reads a Markdown file, with the files that it includes.
func (s folderStock) readPage(data []byte, name string) (document, error) {
	text, err := clean(data)
	if err != nil {
		return document{}, err
	}
	in := includer{open: func(path string) (string, error) { return s.include(name, path) }}
	lines, from := in.expand(splitLines(text))
	doc, err := readMarkdownLines(lines, from)
	doc.includes, doc.included = in.paths, digest(in.states...)
	return doc, err
}

func (folderStock) target(name string) func(href string) string {
	return func(href string) string { return targetOf(name, href) }
}

// itemOf is the item of a file.
func itemOf(name string, info fs.FileInfo) item {
	return item{name: name, size: info.Size(), modTime: info.ModTime(), rights: generation.Perm(info)}
}

// readFile reads a file. What it knows of it it returns even if it cannot be
// read.
func readFile(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, unreadable(err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, unreadable(err)
	case !st.Mode().IsRegular():
		return nil, st, errors.New("not a regular file")
	}
	var b bytes.Buffer
	b.Grow(int(min(st.Size(), maxFile)) + bytes.MinRead) // room to find the end, too
	_, err = b.ReadFrom(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, st, unreadable(err)
	case b.Len() > maxFile:
		return nil, st, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	return b.Bytes(), st, nil
}

// clean makes text of a file's bytes, UTF-8 with newlines alone as line ends, or
// says why they are none.
func clean(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(fromUTF16(data), []byte("\xef\xbb\xbf"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("empty")
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("binary")
	case !utf8.Valid(data):
		return nil, errors.New("not UTF-8")
	}
	if bytes.IndexByte(data, '\r') < 0 {
		return data, nil
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), nil
}

// fromUTF16 makes UTF-8 of data that begins with the byte order mark of UTF-16,
// as files have that PowerShell wrote. Other data stays as it is.
func fromUTF16(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	text := make([]byte, 0, len(data)/2+utf8.UTFMax)
	for data = data[2:]; len(data) > 1; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			low := unicode.ReplacementChar
			if len(data) > 3 {
				low = rune(order.Uint16(data[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != unicode.ReplacementChar {
				data = data[2:]
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// unreadable says that a file or folder could not be read.
func unreadable(err error) error { return errors.New(generation.Unreadable + reason(err).Error()) }

// reason is err without the path, which stands beside it already.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// titleFromName is what to call a document that has no title: the name of its
// file or page.
func titleFromName(name string) string {
	if isURL(name) {
		name, _, _ = strings.Cut(name, "?")
		name = strings.TrimRight(name, "/")
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
}
