package format

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/html"
)

// Limits of an EPUB file.
const (
	maxEPUBBytes    = 128 << 20 // all chapters, in bytes
	maxChapterBytes = 16 << 20
	maxChapters     = 10_000
)

// An epubPackage is the package document of an EPUB file.
type epubPackage struct {
	Title    string `xml:"metadata>title"`
	Manifest []struct {
		ID   string `xml:"id,attr"`
		Href string `xml:"href,attr"`
		Type string `xml:"media-type,attr"`
	} `xml:"manifest>item"`
	Spine []struct {
		ID string `xml:"idref,attr"`
	} `xml:"spine>itemref"`
}

// parseEPUB parses the chapters in reading order. Anchors include the chapter's
// file name within the EPUB.
func parseEPUB(data []byte, _ string) (document.Document, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // insecure paths are harmless: no file is extracted
		return document.Document{}, errors.New("invalid EPUB file: " + err.Error())
	}
	files := map[string]*zip.File{}
	for _, f := range z.File {
		files[f.Name] = f
	}
	r := &epubReader{files: files, left: maxEPUBBytes}

	var container struct {
		Root []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := r.xml("META-INF/container.xml", &container); err != nil {
		return document.Document{}, err
	}
	if len(container.Root) == 0 {
		return document.Document{}, errors.New("invalid EPUB file: no package")
	}
	root := container.Root[0].Path
	var b epubPackage
	if err := r.xml(root, &b); err != nil {
		return document.Document{}, err
	}

	doc := document.Document{Title: strings.Join(strings.Fields(b.Title), " "), Converted: true}
	hrefs := map[string]string{}
	for _, m := range b.Manifest {
		if m.Type == "application/xhtml+xml" || m.Type == "text/html" {
			hrefs[m.ID] = m.Href
		}
	}
	for i, s := range b.Spine {
		href, ok := hrefs[s.ID]
		if !ok {
			continue
		}
		if i >= maxChapters {
			doc.AddNote("", "skipped chapters after the first %d", maxChapters)
			break
		}
		delete(hrefs, s.ID) // add each chapter only once
		if unescaped, err := url.PathUnescape(href); err == nil {
			href = unescaped
		}
		chapter, err := r.read(path.Join(path.Dir(root), href))
		if err == nil {
			err = addChapter(&doc, chapter, href)
		}
		if err != nil {
			doc.AddNote("#"+href, "%v", err)
		}
	}

	if len(doc.Sections) == 0 {
		return document.Document{}, errors.New("no content")
	}
	return doc, nil
}

// addChapter appends a chapter. href is its file within the EPUB.
func addChapter(doc *document.Document, data []byte, href string) error {
	page, err := html.Parse(data, "application/xhtml+xml", href)
	if err != nil {
		return err
	}
	for i := range page.Sections {
		s := &page.Sections[i]
		s.Links = nil // links point within the EPUB
		s.Anchor = strings.TrimSuffix(href+"#"+s.Anchor, "#")
		for k, a := range s.Anchors {
			s.Anchors[k] = href + "#" + a
		}
		addHTML(doc, s)
	}
	return nil
}

type epubReader struct {
	files map[string]*zip.File
	left  int64 // bytes that may still be decompressed
}

func (r *epubReader) read(name string) ([]byte, error) {
	f, ok := r.files[name]
	if !ok {
		return nil, fmt.Errorf("%s not found in the book", name)
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, min(r.left, maxChapterBytes)+1))
	switch n := int64(len(data)); {
	case err != nil:
	case n > r.left:
		err = fmt.Errorf("the book is larger than %d MiB", maxEPUBBytes>>20)
	case n > maxChapterBytes:
		err = fmt.Errorf("larger than %d MiB", maxChapterBytes>>20)
	}
	r.left = max(r.left-int64(len(data)), 0)
	return data, err
}

func (r *epubReader) xml(name string, v any) error {
	data, err := r.read(name)
	if err == nil {
		d := xml.NewDecoder(bytes.NewReader(data))
		d.Strict = false
		err = d.Decode(v)
	}
	if err != nil {
		return fmt.Errorf("invalid EPUB file: %w", err)
	}
	return nil
}
