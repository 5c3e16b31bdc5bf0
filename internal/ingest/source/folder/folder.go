// Package folder lists and reads the files of a folder: walk, include and exclude
// patterns, ignore files, and files that a page includes.
package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/include"
)

// A Reader reads the files of a folder. It implements source.Reader.
type Reader struct {
	Root   *os.Root
	Filter Filter
	PDF    format.PDFParser
	// GoPackages is the import path of the folder if it holds packages that others use: see
	// GoPackages. Their documentation is read instead of their code.
	GoPackages string
}

func (s Reader) Load(it *source.Item) ([]byte, error) {
	data, info, err := ReadFile(s.Root, it.Name)
	if info != nil {
		it.Size, it.ModTime = info.Size(), info.ModTime()
	}
	return data, err
}

// secretName is the reason to skip a file with the name of a secret.
const secretName = secret.Reason + ", by name"

func (s Reader) Parse(ctx context.Context, data []byte, it *source.Item) (document.Document, error) {
	if !s.Filter.KeepSecrets && secret.IsFile(it.Name) && !secret.IsProse(data) {
		return document.Document{}, errors.New(secretName)
	}
	if format.IsPDF(it.Name) {
		return format.ParsePDF(ctx, s.PDF, data, it.Name)
	}
	if include.Reads(it.Name) || format.IsRST(it.Name, data) {
		doc, err := s.parseIncluding(data, it)
		if err == nil && format.IsSiteContents(it.Name, &doc) {
			err = errors.New("generated navigation")
		}
		return doc, err
	}
	if format.IsData(it.Name) {
		return s.parseData(data, it.Name)
	}
	if s.GoPackages != "" && path.Ext(it.Name) == ".go" {
		return format.ParseGo(data, it.Name, s.ImportPath(it.Name))
	}
	return format.ParserFor(it.Name)(data, it.Name)
}

// parseIncluding parses a text with the files that it includes.
func (s Reader) parseIncluding(data []byte, it *source.Item) (document.Document, error) {
	text, err := document.DecodeText(data)
	if err != nil {
		return document.Document{}, err
	}
	parse := format.ParserFor(it.Name)
	if len(it.Titles) > 0 {
		parse = format.RSTParser(it.Titles)
	}
	page := s.expand(text, it.Name)
	if page.From == nil {
		return parse(data, it.Name)
	}
	doc, err := parse([]byte(strings.Join(page.Lines, "\n")), it.Name)
	switch {
	case err != nil:
		// Without the files that it includes, it may be empty. It depends on them still.
		doc, err = document.Document{Lines: []string{""}}, nil
	case doc.Origins == nil:
		doc.Origins = page.From
	default:
		for i, line := range doc.Origins {
			doc.Origins[i] = page.From[min(max(line, 1), len(page.From))-1]
		}
	}
	doc.Includes, doc.IncludesDigest = page.Reads, source.Digest(page.States...)
	addNotes(&doc, page)
	return doc, err
}

// expand replaces the directives of a text with the files that it includes.
func (s Reader) expand(text []byte, name string) include.Text {
	if !include.Reads(name) {
		name += ".rst"
	}
	return include.Expand(included{s}, name, document.SplitLines(text))
}

// parseData parses a file of keys and values with the files to which it refers.
func (s Reader) parseData(data []byte, name string) (document.Document, error) {
	var reads, states []string
	doc, err := format.ParseData(data, name, func(path string) (string, error) {
		text, err := included{s}.Read(path)
		reads, states = append(reads, path), append(states, include.State(text, err))
		return text, err
	})
	doc.Includes, doc.IncludesDigest = reads, source.Digest(states...)
	return doc, err
}

// addNotes reports what the page includes and the source does not have.
func addNotes(doc *document.Document, page include.Text) {
	list := func(names []string) string {
		const most = 3
		if n := len(names) - most; n > 0 {
			return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), n)
		}
		return strings.Join(names, ", ")
	}
	if n := len(page.Missing); n > 0 {
		doc.AddNote("", "included files not found (%d): %s", n, list(page.Missing))
	}
	if n := len(page.Reference); n > 0 {
		doc.AddNote("", "reference not found in source code (%d): %s", n, list(page.Reference))
	}
}

// NewItem returns the item for a file.
func NewItem(name string, info fs.FileInfo) source.Item {
	return source.Item{Name: name, Size: info.Size(), ModTime: info.ModTime(), Perm: generation.Perm(info)}
}

// ReadFile reads a file. It returns the file's info even if reading fails.
func ReadFile(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
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
	b.Grow(int(min(st.Size(), format.MaxFile)) + bytes.MinRead) // with room to detect the end
	_, err = b.ReadFrom(io.LimitReader(f, format.MaxFile+1))
	switch {
	case err != nil:
		return nil, st, unreadable(err)
	case b.Len() > format.MaxFile:
		return nil, st, fmt.Errorf("larger than %d MiB", format.MaxFile>>20)
	}
	return b.Bytes(), st, nil
}

// unreadable returns the reason for a file or folder that cannot be read.
func unreadable(err error) error {
	return errors.New(generation.Unreadable + source.WithoutPath(err).Error())
}

// Target resolves a link of a page to a path, "" if it leads out of the folder.
func (Reader) Target(page, href string) string {
	if strings.Contains(href, ":") && !strings.HasPrefix(href, "#") {
		if colon := strings.IndexByte(href, ':'); !strings.ContainsAny(href[:colon], "/#?") {
			return "" // a URL
		}
	}
	to, anchor, _ := strings.Cut(href, "#")
	if to == "" {
		return "" // the index itself, as in "see also"
	}
	target := path.Join(path.Dir(page), to)
	if strings.HasPrefix(target, "../") || strings.HasPrefix(to, "/") {
		return ""
	}
	if anchor != "" {
		target += "#" + anchor
	}
	return target
}
