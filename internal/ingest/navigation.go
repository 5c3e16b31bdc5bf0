package ingest

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/html"
)

// navigation names the pages, by generator, that are made of all the others
// and say nothing of their own. The patterns are path.Match's, of the file's
// name or, with a slash at the end, of a folder that it is in.
var navigation = [...]struct {
	generator string
	names     []string
}{
	{"sphinx", []string{"genindex*.html", "search.html", "*modindex.html", "_modules/"}},
	{"docbook", []string{"bookindex.html"}},
	{"javadoc", []string{"index-all.html", "index-files/", "allclasses*.html", "allpackages*.html", "overview-tree.html",
		"package-tree.html", "package-use.html", "class-use/", "help-doc.html", "src-html/", "search.html"}},
	{"doxygen", []string{"functions*.html", "globals*.html", "namespacemembers*.html", "*_source.html", "dir_*.html",
		"hierarchy.html", "files.html", "inherits*.html", "graph_legend.html"}},
	{"rustdoc", []string{"all.html", "help.html", "settings.html", "src/", "source-files.html"}},
	{"mdbook", []string{"print.html", "toc.html"}},
	{"nodejs", []string{"all.html"}},
	{"mkdocs", []string{"search.html", "404.html"}},
	{"docusaurus", []string{"search.html", "404.html"}},
	{"hugo", []string{"_print/", "404.html"}},
}

// isNavigation reports whether a page is generated from the others: an index,
// a form to search in, all pages on one.
func isNavigation(name string, page *html.Page) bool {
	folders, base := path.Split(name)
	for _, n := range navigation {
		if n.generator != page.Generator {
			continue
		}
		for _, pattern := range n.names {
			if folder, ok := strings.CutSuffix(pattern, "/"); ok {
				if slices.Contains(strings.Split(folders, "/"), folder) {
					return true
				}
			} else if ok, _ := path.Match(pattern, base); ok {
				return true
			}
		}
	}
	return isAlphabetical(page)
}

// isAlphabetical reports whether a page is an index of the kind that books
// have: most of its sections are headed by a letter.
func isAlphabetical(page *html.Page) bool {
	const fewest = 8
	letters, headed := 0, 0
	for i := range page.Sections {
		headings := page.Sections[i].Headings
		if len(headings) == 0 {
			continue
		}
		headed++
		if r, n := utf8.DecodeRuneInString(headings[len(headings)-1]); n == len(headings[len(headings)-1]) && unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= fewest && letters*10 >= headed*7
}
