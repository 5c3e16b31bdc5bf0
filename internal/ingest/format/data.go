package format

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/openapi"
)

// maxData is the maximum size of a file of keys and values. Larger ones are
// data, even if they have comments.
const maxData = 1 << 20

// IsData reports whether a file name is that of a file of keys and values.
func IsData(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".jsonc", ".yaml", ".yml", ".toml":
		return true
	}
	return false
}

// parseData is ParseData without other files.
func parseData(data []byte, name string) (document.Document, error) {
	return ParseData(data, name, nil)
}

// ParseData parses a file of keys and values: OpenAPI and JSON Schema, and other files with
// comments, such as a commented configuration. Those are read as source code. read returns
// the text of another file of the source.
func ParseData(data []byte, name string, read func(path string) (string, error)) (document.Document, error) {
	text, err := document.DecodeText(data)
	if err != nil {
		return document.Document{}, err
	}
	ext := strings.ToLower(path.Ext(name))
	if ext != ".toml" && openapi.MayParse(text) {
		page, notes, err := openapi.Parse(text, name, read)
		switch {
		case err == nil:
			doc, err := fromMDWriter(page, name)
			for _, note := range notes {
				doc.AddNote("", "%s", note)
			}
			return doc, err
		case openapi.IsDescription(text):
			return document.Document{}, err
		}
	}
	switch {
	case len(text) > maxData:
		return document.Document{}, fmt.Errorf("data larger than %d MiB", maxData>>20)
	case !hasComments(text, ext):
		return document.Document{}, errors.New("data without comments")
	}
	return parseCode(data, name)
}

// hasComments reports whether one of 50 lines is a comment.
func hasComments(text []byte, ext string) bool {
	const lines = 50
	marks := [...]string{"#", "#"}
	if strings.HasPrefix(ext, ".json") {
		marks = [...]string{"//", "/*"}
	}
	all, comments := 0, 0
	for line := range bytes.Lines(text) {
		t := string(bytes.TrimSpace(line))
		if t == "" {
			continue
		}
		all++
		if strings.HasPrefix(t, marks[0]) || strings.HasPrefix(t, marks[1]) {
			comments++
		}
	}
	return comments > 0 && comments*lines >= all
}

// isLockFile reports whether a package manager wrote the file.
func isLockFile(name string) bool {
	base := strings.ToLower(name[strings.LastIndexAny(name, `/\`)+1:])
	stem := strings.TrimSuffix(base, path.Ext(base))
	return stem != base && (stem == "npm-shrinkwrap" || strings.HasSuffix(stem, "-lock") || strings.HasSuffix(stem, ".lock"))
}

// Limit returns the maximum size of a file in bytes.
func Limit(name string) int64 {
	if IsData(name) {
		return openapi.MaxFile
	}
	return MaxFile
}
