// Package source defines what ingest needs from a source of documentation: items,
// and a reader that loads and parses them. Each kind of source has a subpackage,
// which produces files or pages and does not know passages.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// An item is a document of a source: its path in a folder or its URL, and what
// is known of it before it is read.
type Item struct {
	Name    string
	Size    int64
	ModTime time.Time   // zero for pages
	Rights  fs.FileMode // that its passages may have at most; 0: not known
	Hash    string      // Hash its bytes; "" if only reading tells
	Context string      // what else its passages depend on
}

// A stock is the documents of a source.
type Reader interface {
	// Load returns the bytes of an item, and completes what is known of it.
	Load(*Item) ([]byte, error)
	// Parse makes a document of them. An error says why there is none.
	Parse(context.Context, []byte, *Item) (document.Document, error)
	// Target returns what says where a link on an item leads: the place, "" if
	// it is none of the source.
	Target(name string) func(href string) string
	// IncludesDigest is a digest of the other documents that an item includes by these
	// paths, "" for no paths.
	IncludesDigest(name string, paths []string) string
}

// Hash is the SHA-256 of data as a record has it: half of it tells the states
// of a document apart.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return string(sum[:sha256.Size/2])
}

// Digest is a short name for the parts, in their order; "" for none.
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
