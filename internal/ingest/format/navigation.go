package format

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/html"
)

// navigation lists, for each generator, the pages that only repeat content of
// others. A pattern is a folder in the page's path, a file name in the syntax
// of path.Match, or both. The folder "." is the top of the generator's output;
// elsewhere, a page of that name may be documentation.
var navigation = [...]struct {
	generator string
	names     []string
}{
	{"sphinx", []string{"./genindex*.html", "./search.html", "./*modindex.html", "_modules/"}},
	{"docbook", []string{"bookindex.html"}},
	{"javadoc", []string{"index-all.html", "index-files/", "allclasses*.html", "allpackages*.html",
		"overview-tree.html",
		"package-tree.html", "package-use.html", "class-use/", "./help-doc.html", "src-html/", "./search.html"}},
	{"doxygen", []string{"functions*.html", "globals*.html", "namespacemembers*.html", "*_source.html", "dir_*.html",
		"hierarchy.html", "files.html", "inherits*.html", "graph_legend.html", "*-members.html", "search/"}},
	{"haddock", []string{"doc-index*.html", "src/*.html", "./mini_*.html", "./frames.html"}},
	{"rustdoc", []string{"all.html", "./help.html", "./settings.html", "src/*.rs.html", "./source-files.html"}},
	{"mdbook", []string{"./print.html", "./toc.html"}},
	{"nodejs", []string{"all.html"}},
	{"mkdocs", []string{"./search.html", "./404.html"}},
	{"docusaurus", []string{"./search.html", "./404.html"}},
	{"hugo", []string{"_print/", "./404.html"}},
}

// isNavigation reports whether a page is generated from other pages: an index,
// a search form, a print page.
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

// IsSiteContents reports whether a text file only lists the pages of a site, as the files do
// from which generators make a menu.
func IsSiteContents(name string, doc *document.Document) bool {
	switch strings.ToLower(path.Base(name)) {
	case "summary.md", "_sidebar.md", "_navbar.md", "_toc.md":
	default:
		return false
	}
	links := 0
	for _, line := range doc.Lines {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+0123456789.) ")
		isLink := strings.HasPrefix(line, "[") && strings.HasSuffix(line, ")")
		if isLink {
			links++
		}
		if line != "" && line[0] != '#' && !isLink && line != document.DroppedLine {
			return false
		}
	}
	return links > 0
}

// isAtTop reports whether a page is at the top of its generator's output. If
// the links of the page do not show its depth, short pages count as generated.
func isAtTop(page *html.Page) bool {
	if page.Depth == html.UnknownDepth {
		return page.Length() < maxNoticeBytes
	}
	return page.Depth == 0
}

// isAlphabetical reports whether a page is an alphabetical index: most of its
// section headings are single letters.
func isAlphabetical(page *html.Page) bool {
	const fewest = 8
	letters, headed := 0, 0
	for i := range page.Sections {
		headings := page.Sections[i].Headings
		if len(headings) == 0 {
			continue
		}
		headed++
		if r, n := utf8.DecodeRuneInString(headings[len(headings)-1]); n == len(headings[len(headings)-1]) &&
			unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= fewest && letters*10 >= headed*7
}
