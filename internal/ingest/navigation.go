package ingest

import (
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
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

// Files that may hold a documentation's own index of terms, as generators call
// them, and how much of them is believed of one place.
const (
	maxTerms    = 40
	maxOneTerm  = 80 // bytes
	termIndexes = "genindex*.html bookindex.html"
)

// readTermIndexes reads the documentation's own indexes among the files: what
// they call each place, by its path with anchor.
func readTermIndexes(root *os.Root, files []string) map[string][]string {
	terms := map[string][]string{}
	for _, name := range files {
		for pattern := range strings.FieldsSeq(termIndexes) {
			if ok, _ := path.Match(pattern, path.Base(name)); ok {
				readTermIndex(root, name, terms)
			}
		}
	}
	return terms
}

func readTermIndex(root *os.Root, name string, terms map[string][]string) {
	data, _, err := readFile(root, name)
	if err != nil {
		return // named when its turn comes
	}
	page, err := html.Parse(data, "", name)
	if err != nil || !isNavigation(name, &page) {
		return
	}
	for i := range page.Sections {
		for _, l := range page.Sections[i].Links {
			text := strings.TrimSpace(l.Text)
			if l.Target == "" || len(text) > maxOneTerm || !saysSomething(text) || len(terms[l.Target]) == maxTerms {
				continue
			}
			if !slices.Contains(terms[l.Target], text) {
				terms[l.Target] = append(terms[l.Target], text)
			}
		}
	}
}

// saysSomething reports whether a term is more than the number of a further
// place, as "[2]" is.
func saysSomething(term string) bool {
	return strings.ContainsFunc(term, unicode.IsLetter)
}

// addTerms gives a passage the terms of the places in it. Those of its document
// as a whole are the first passage's.
func (r *folderReader) addTerms(p *passage.Passage, first bool) {
	if len(r.terms) == 0 {
		return
	}
	terms := p.Terms()
	had := len(terms)
	if first {
		terms = append(terms, r.terms[p.Path]...)
	}
	for _, a := range p.Anchors {
		for _, t := range r.terms[p.Path+"#"+a] {
			if !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		}
	}
	if len(terms) > had {
		p.SetTerms(terms)
	}
}
