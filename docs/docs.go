// Package docs embeds docsearch's documentation in every binary. The demo
// searches it.
package docs

import "embed"

// Files contains the pages of this folder.
//
//go:embed *.md
var Files embed.FS
