// Package source defines what ingest needs from a source of documentation: items,
// and a reader that loads and parses them. Each kind of source has a subpackage,
// which produces files or pages and does not know passages.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// An Item is a document of a source that is not parsed yet.
type Item struct {
	Name    string
	Size    int64
	ModTime time.Time   // zero for pages
	Perm    fs.FileMode // maximum access rights of its passages; 0: unknown
	Hash    string      // see Hash; "" if unknown before reading
	Context string      // digest of everything else that its passages depend on
	// Titles has the titles of labels and documents by the references that show them.
	Titles map[string]string
}

// A Survey is what a document and others need of each other before any of them is parsed.
type Survey struct {
	Parts      []string // documents of the source that it includes and that are no documents of their own
	Title      string   // that references to the document show
	Titles     []string // names of references to its labels, each before the title that it shows
	References []string // names of the references for which it needs titles
}

// A Reader reads the documents of a source.
type Reader interface {
	// Load returns the bytes of an item and fills in its size and time.
	Load(*Item) ([]byte, error)
	// Parse parses the bytes. An error is the reason why the item has no
	// content.
	Parse(context.Context, []byte, *Item) (document.Document, error)
	// Target resolves a link of an item to a target; "" for a link out of the source.
	Target(name, href string) string
	// IncludesDigest returns a digest of the files with these paths, which an item
	// includes; "" for no paths.
	IncludesDigest(paths []string) string
	// NeedsSurvey reports whether an item of that name can have a Survey.
	NeedsSurvey(name string) bool
	// Survey surveys the bytes of an item.
	Survey(data []byte, name string) Survey
}

// Hash returns half of the SHA-256 of data, which is enough to detect changes.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return string(sum[:sha256.Size/2])
}

// Digest returns a short digest of the parts; "" for no parts.
func Digest(parts ...string) string {
	if len(parts) == 0 {
		return ""
	}
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// WithoutPath returns err without its path, which the message already has.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
