// Package format converts the bytes of a file into a document; ParserFor picks the
// parser by the file's name. The syntax of each larger format has a subpackage; the
// files here adapt their results to the document model. It does not know where
// files come from.
package format

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/asciidoc"
	"github.com/docsearch/docsearch/internal/ingest/format/code"
	"github.com/docsearch/docsearch/internal/ingest/format/docbook"
	"github.com/docsearch/docsearch/internal/ingest/format/man"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/office"
	"github.com/docsearch/docsearch/internal/ingest/format/org"
	"github.com/docsearch/docsearch/internal/ingest/format/plaintext"
	"github.com/docsearch/docsearch/internal/ingest/format/pod"
	"github.com/docsearch/docsearch/internal/ingest/format/rst"
)

// A Parser parses a file into a document. It returns an error if the file has
// no content. Malformed input is not an error.
type Parser func(data []byte, name string) (document.Document, error)

// plainNames are the names of plain text files without an extension.
var plainNames = [...]string{"README", "INSTALL", "CHANGELOG", "CHANGES", "NEWS", "HACKING", "CONTRIBUTING", "FAQ"}

const SupportedTypes = ".html, .md, .mdx, .rst, .adoc, .txt, .ipynb, .epub, .pdf, .docx, .odt, DocBook, POD, .org, .csv, man and info pages, source code, OpenAPI, JSON Schema"

// asText adapts a parser of text to bytes.
func asText(read func(text []byte) (document.Document, error)) Parser {
	return func(data []byte, _ string) (document.Document, error) {
		text, err := document.DecodeText(data)
		if err != nil {
			return document.Document{}, err
		}
		return read(text)
	}
}

// parseText parses a text without markup, or reStructuredText, which some manuals keep in
// files of that name.
func parseText(data []byte, name string) (document.Document, error) {
	text, err := document.DecodeText(data)
	if err != nil {
		return document.Document{}, err
	}
	if !rst.Is(text) {
		return plaintext.Parse(text)
	}
	return fromRST(rst.Parse(text), name)
}

// fromRST converts a parsed document. Documents refer to others without extension.
func fromRST(page mdwriter.Document, name string) (document.Document, error) {
	for _, s := range page.Sections {
		for i, l := range s.Links {
			if file, fragment, _ := strings.Cut(l.Target, "#"); fragment == "" && strings.HasSuffix(file, ".rst") {
				s.Links[i].Target = strings.TrimSuffix(file, ".rst") + path.Ext(name)
			}
		}
	}
	return fromMDWriter(page, name)
}

// RSTParser returns a parser of reStructuredText in which references show these titles: see
// rst.References.
func RSTParser(titles map[string]string) Parser {
	return func(data []byte, name string) (document.Document, error) {
		text, err := document.DecodeText(data)
		if err != nil {
			return document.Document{}, err
		}
		return fromRST(rst.ParseWith(text, titles), name)
	}
}

// MayBeRST reports whether a file with that name may be reStructuredText.
func MayBeRST(name string) bool { return isRST(name) || isText(name) }

// IsRST reports whether a file is reStructuredText, by its name or by its contents.
func IsRST(name string, data []byte) bool {
	if !isText(name) {
		return isRST(name)
	}
	text, err := document.DecodeText(data)
	return err == nil && rst.Is(text)
}

func isRST(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".rst", ".rest":
		return true
	}
	return false
}

func isText(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text":
		return true
	}
	return false
}

// parsePerl parses a program, or its documentation if that is a large part of it.
func parsePerl(data []byte, name string) (document.Document, error) {
	if !pod.IsMain(data) {
		return parseCode(data, name)
	}
	return convertErr(func(text []byte) (mdwriter.Document, error) { return pod.Parse(text, true) })(data, name)
}

// parseXML parses DocBook.
func parseXML(data []byte, name string) (document.Document, error) {
	if !docbook.Is(data) {
		return document.Document{}, errors.New(UnsupportedReason(name))
	}
	return convertBytes(docbook.Parse)(data, name)
}

// ParserFor returns the parser for a file name, or nil.
func ParserFor(name string) Parser {
	if IsMarkdown(name) {
		return asText(markdown.Parse)
	}
	if isHTML(name) {
		return parseHTML
	}
	if IsData(name) {
		if isLockFile(name) {
			return nil
		}
		return parseData
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".mdx":
		return asText(markdown.ParseMDX)
	case ".rst", ".rest":
		return RSTParser(nil)
	case ".adoc", ".asciidoc":
		return convert(asciidoc.Parse)
	case ".ipynb":
		return parseNotebook
	case ".epub":
		return parseEPUB
	case ".xml", ".docbook", ".dbk":
		return parseXML
	case ".csv", ".tsv":
		return parseTable
	case ".org":
		return convertErr(org.Parse)
	case ".pod":
		return convertErr(func(text []byte) (mdwriter.Document, error) { return pod.Parse(text, false) })
	case ".pm", ".pl":
		return parsePerl
	case ".docx", ".docm":
		return convertBytes(office.ParseDOCX)
	case ".odt":
		return convertBytes(office.ParseODT)
	case ".pdf":
		return func(data []byte, name string) (document.Document, error) {
			return ParsePDF(context.Background(), NewPDFParser(""), data, name)
		}
	case ".info":
		return parseInfo
	case ".gz":
		return decompress(name)
	case ".txt", ".text":
		return parseText
	case "":
		if slices.Contains(plainNames[:], strings.ToUpper(name[strings.LastIndexAny(name, `/\`)+1:])) {
			return asText(plaintext.Parse)
		}
		if isPythonMetadata(name) {
			return parsePythonMetadata
		}
	default:
		switch {
		case isManPage(ext):
			return convertErr(man.Parse)
		case strings.HasPrefix(ext, ".info-"): // part of a split info file
			return parseInfo
		case code.Reads(ext):
			return parseCode
		case passage.LanguageCode(ext[1:]) != "" && isHTML(strings.TrimSuffix(name, path.Ext(name))):
			return parseHTML // install.html.fr
		}
	}
	return nil
}

// IsCode reports whether a file name is that of a program's source code.
func IsCode(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return code.Reads(ext) && !IsData(name) && ext != ".pm" && ext != ".pl" // which have POD
}

// IsProse reports whether a file name is that of a page of documentation in a markup language.
func IsProse(name string) bool {
	if IsMarkdown(name) {
		return true
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".mdx", ".rst", ".adoc", ".asciidoc", ".html", ".org":
		return true
	}
	return false
}

func IsMarkdown(name string) bool { return markdown.Reads(path.Ext(name)) }

func isHTML(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

// IsManPage reports whether a file name is that of a man page, compressed or not.
func IsManPage(name string) bool { return isManPage(path.Ext(UncompressedName(name))) }

// isManPage reports whether a file extension is that of a man page: a section
// number and optional letters.
func isManPage(ext string) bool {
	return len(ext) >= 2 && len(ext) <= 8 && ext[1] >= '1' && ext[1] <= '9' && strings.Trim(ext[2:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// MaxFile is the maximum size of a document in bytes. Larger files that look
// like text are logs and dumps.
const MaxFile = 32 << 20

// UnsupportedReason returns the reason to skip a file without a parser.
func UnsupportedReason(name string) string {
	if isLockFile(name) {
		return "lock file"
	}
	if ext := path.Ext(name); ext != "" {
		return "unsupported file type: " + strings.ToLower(ext)
	}
	return "unsupported file type: no extension"
}
