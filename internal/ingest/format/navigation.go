package format

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/format/html"
)

// navigation names the pages, by generator, that are made of all the others
// and say nothing of their own. A pattern is a folder around the page, its name in
// the form of path.Match, or both. The folder "." is the top of the generator's
// output: elsewhere, documentation may have a page of that name.
var navigation = [...]struct {
	generator string
	names     []string
}{
	{"sphinx", []string{"./genindex*.html", "./search.html", "./*modindex.html", "_modules/"}},
	{"docbook", []string{"bookindex.html"}},
	{"javadoc", []string{"index-all.html", "index-files/", "allclasses*.html", "allpackages*.html", "overview-tree.html",
		"package-tree.html", "package-use.html", "class-use/", "./help-doc.html", "src-html/", "./search.html"}},
	{"doxygen", []string{"functions*.html", "globals*.html", "namespacemembers*.html", "*_source.html", "dir_*.html",
		"hierarchy.html", "files.html", "inherits*.html", "graph_legend.html"}},
	{"rustdoc", []string{"all.html", "./help.html", "./settings.html", "src/*.rs.html", "./source-files.html"}},
	{"mdbook", []string{"./print.html", "./toc.html"}},
	{"nodejs", []string{"all.html"}},
	{"mkdocs", []string{"./search.html", "./404.html"}},
	{"docusaurus", []string{"./search.html", "./404.html"}},
	{"hugo", []string{"_print/", "./404.html"}},
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
			folder, of := path.Split(pattern)
			if ok, _ := path.Match(of, base); !ok && of != "" {
				continue
			}
			if folder == "" || folder == "./" && isAtTop(page) ||
				slices.Contains(strings.Split(folders, "/"), strings.TrimSuffix(folder, "/")) {
				return true
			}
		}
	}
	return isAlphabetical(page)
}

// isAtTop reports whether a page is at the top of its generator's output. If its
// links do not tell, it is if it is as short as generated pages are.
func isAtTop(page *html.Page) bool {
	if page.Depth == html.UnknownDepth {
		return page.Length() < mereNotice
	}
	return page.Depth == 0
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
