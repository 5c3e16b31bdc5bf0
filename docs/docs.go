// Package docs holds docsearch's documentation, so that every binary carries
// it: "docsearch demo" answers from it.
package docs

import "embed"

// Files are the pages of this folder.
//
//go:embed *.md
var Files embed.FS
