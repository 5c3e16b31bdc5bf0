package folder

import (
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// minPages is the number of pages in folders of documentation from which on the other source
// code is left out. A few notes next to the code do not document it.
const minPages = 10

// withoutCode leaves out source code and tests if there is documentation: there is more of them
// than of the documentation, and they contain the words of each question about it. Code in the
// folders of the documentation remains, since it is an example there. Instructions for agents,
// which read them by themselves, are left out, too.
func withoutCode(items []source.Item, skipped []generation.Skipped) ([]source.Item, []generation.Skipped) {
	pages := 0
	for i := range items {
		if name := items[i].Name; isDocumentation(name) && format.IsProse(name) && !isForAgents(name) {
			pages++
		}
	}
	if pages < minPages {
		return items, skipped
	}
	kept := items[:0]
	for _, it := range items {
		switch {
		case isForAgents(it.Name):
			skipped = append(skipped, generation.Skipped{Name: it.Name, Reason: "instructions for agents, not documentation"})
			continue
		case isDocumentation(it.Name):
		case isTest(it.Name):
			skipped = append(skipped, generation.Skipped{Name: it.Name, Reason: "test, not documentation"})
			continue
		case format.IsCode(it.Name):
			skipped = append(skipped, generation.Skipped{Name: it.Name,
				Reason: "source code, not documentation; to index it, pass --include"})
			continue
		}
		kept = append(kept, it)
	}
	return kept, skipped
}

// isDocumentation reports whether a folder of the file is one that projects use for their
// documentation. In a folder of source code, only the content of a site is: other texts there
// are parts of the code's own documentation.
func isDocumentation(name string) bool {
	inSource := false
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.ToLower(part) {
		case "content":
			return true
		case "doc", "docs", "documentation", "book", "guide", "guides", "handbook", "manual", "manuals":
			return !inSource
		case "src", "lib", "pkg", "internal":
			inSource = true
		}
	}
	return false
}

// isForAgents reports whether agents read the file before they work in its folder.
func isForAgents(name string) bool {
	switch path.Base(name) {
	case "AGENTS.md", "CLAUDE.md", "GEMINI.md":
		return true
	}
	return false
}

// isTest reports whether a folder of the file is one of tests.
func isTest(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.ToLower(part) {
		case "test", "tests", "testdata", "__tests__", "fixtures":
			return true
		}
	}
	return false
}
