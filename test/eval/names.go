package main

import (
	"fmt"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
)

// A nameRule selects the pages about one named item by a glob of the path and a pattern
// of the title. The pattern's first group is the name.
type nameRule struct {
	pages string
	title *regexp.Regexp
}

// nameRules select the pages about modules, programs and commands. Titles do not
// contain the site name.
var nameRules = map[string][]nameRule{
	// "argparse — Parser for command-line options", "email.mime: Creating ..."
	"python": {{"library/*.html", regexp.MustCompile(`^([\w.]+)(?: — |: )`)}},
	// "pg_dump"; "CREATE FOREIGN TABLE"; "F.17. hstore"
	"postgresql": {
		{"app-*.html", regexp.MustCompile(`^([a-z_]+)$`)},
		{"pg*.html", regexp.MustCompile(`^(?:F\.\d+\. )?([a-z_]+)$`)},
		{"sql-*.html", regexp.MustCompile(`^([A-Z ]+)$`)},
		{"*.html", regexp.MustCompile(`^F\.\d+\. ([a-z_]+)$`)},
	},
	// "git-add(1)"
	"git": {{"*.html", regexp.MustCompile(`^(git[a-z0-9-]*)\(\d\)$`)}},
	// "DROP INDEX"
	"sqlite": {{"lang_*.html", regexp.MustCompile(`^([A-Z ]+)$`)}},
	// "Zlib"
	"nodejs": {{"*.html", regexp.MustCompile(`^([A-Za-z]+)$`)}},
	// "add_library", "FindZLIB", "ctest(1)"
	"cmake": {
		{"command/*.html", regexp.MustCompile(`^(\w+)$`)},
		{"module/*.html", regexp.MustCompile(`^(\w+)$`)},
		{"manual/*.html", regexp.MustCompile(`^([a-z-]+)\(\d\)$`)},
	},
}

// A namedPage is a page about one module, program, or command.
type namedPage struct{ set, page, name string }

// names searches all databases at once for the name of each named page, each database for
// several names at once, and sends the hook identifiers alone.
func (l *harness) names(out *output) error {
	root, err := l.open(&l.docs)
	if err != nil {
		return err
	}
	pages, err := namedPages(root)
	if err != nil {
		return err
	}
	var lines []judgedLine
	for _, p := range pages {
		lines = append(lines, newJudgedLine(p.set+": "+p.name, p.set, p.name, []eval.Target{{Page: p.page, Grade: 2}}))
	}
	results, err := l.evalConfigured("names", lines, "--unscoped")
	if err != nil {
		return err
	}
	namesTable(out, pages, results)
	if err := l.severalNames(out); err != nil {
		return err
	}
	return l.identifiers(out)
}

// foundBy reports whether the first hit is in the page's manual.
func (p namedPage) foundBy(r queryResult) bool {
	return len(r.Hits) > 0 && strings.HasPrefix(r.Hits[0], p.set+": ")
}

// A nameScore counts named pages: those for which another manual was first, those
// without hits, and those whose page was first or among the first five.
type nameScore struct{ asked, other, none, first, five int }

func (s *nameScore) add(p namedPage, r queryResult) {
	s.asked++
	s.first += int(r.Page.Success1)
	s.five += int(r.Page.Success5)
	switch {
	case len(r.Hits) == 0:
		s.none++
	case !p.foundBy(r):
		s.other++
	}
}

func namesTable(out *output, pages []namedPage, results []queryResult) {
	tableHeader(&out.tables, "Page names", "database", "names", "other database first", "no result", "missed", "page first",
		"page in top 5")
	line := func(name string, s nameScore) {
		tableRow(&out.tables, name, s.asked, s.other, s.none, percent(s.other+s.none, s.asked), percent(s.first, s.asked), percent(s.five, s.asked))
	}
	sums := map[string]*nameScore{}
	var all nameScore
	for i, r := range results {
		p := pages[i]
		if sums[p.set] == nil {
			sums[p.set] = &nameScore{}
		}
		for _, s := range []*nameScore{sums[p.set], &all} {
			s.add(p, r)
		}
		if !p.foundBy(r) {
			fmt.Fprintf(out.cases, "%s %s: %s (confidence %.2f)\n", p.set, p.name, strings.Join(r.Hits[:min(1, len(r.Hits))], ""), r.Confidence)
		}
	}
	for _, m := range docSets {
		if s := sums[m.name]; s != nil {
			line(m.name, *s)
		}
	}
	line("**all**", all)
}

// namedPages returns the named pages of docSets. It drops names with pages in two
// manuals, because either page is correct.
func namedPages(root string) ([]namedPage, error) {
	var pages []namedPage
	owners := map[string]string{} // manual of each name, "" if ambiguous
	for _, m := range docSets {
		folder, err := filepath.EvalSymlinks(filepath.Join(root, m.name))
		if err != nil {
			return nil, err
		}
		err = fs.WalkDir(os.DirFS(folder), ".", func(page string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := nameOf(folder, page, &m)
			if name == "" {
				return err
			}
			if owner, taken := owners[normalizeName(name)]; taken && owner != m.name {
				owners[normalizeName(name)] = ""
			} else {
				owners[normalizeName(name)] = m.name
			}
			pages = append(pages, namedPage{m.name, page, name})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(pages, func(p namedPage) bool { return owners[normalizeName(p.name)] != p.set }), nil
}

// normalizeName removes case and punctuation.
func normalizeName(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(name))
}

var titleElement = regexp.MustCompile(`(?is)<title>(.*?)</title>`)

// nameOf returns the name of the item that a page describes, "" if none.
func nameOf(folder, page string, m *manual) (string, error) {
	for _, rule := range nameRules[m.name] {
		if ok, _ := path.Match(rule.pages, page); !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(page)))
		if err != nil {
			return "", err
		}
		title := titleElement.FindSubmatch(text)
		if title == nil {
			continue
		}
		name := rule.title.FindStringSubmatch(pageTitle(string(title[1])))
		if name == nil {
			continue
		}
		// Node.js also has titles of one ordinary word. The page of a module has the
		// module's name as file name and imports the module.
		if m.name == "nodejs" && !(strings.EqualFold(name[1]+".html", page) && strings.Contains(string(text), "node:"+strings.ToLower(name[1]))) {
			continue
		}
		return name[1], nil
	}
	return "", nil
}

// siteName matches the suffix of a site's page titles.
var siteName = regexp.MustCompile(`( — | \| )[^—|]* [Dd]ocumentation$`)

func pageTitle(element string) string {
	return siteName.ReplaceAllString(strings.Join(strings.Fields(html.UnescapeString(element)), " "), "")
}
