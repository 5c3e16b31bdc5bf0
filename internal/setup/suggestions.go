// Package setup finds out what a database is about, so that its entry in the
// config can be filled in: the words by which searches name it, the URLs of its
// pages, what to call it, and a question that it answers.
//
// All of it is proposed to the user. A keyword too few costs one lookup that
// was not made; a keyword too many makes every search with that word a lookup.
// So it proposes what the documentation calls itself, and of the words in its
// titles only those that can hardly be anything but a name.
package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/site"
)

// Suggestions is what a database and its source say of what they are about.
type Suggestions struct {
	Keyword  string   // that the user chose
	Site     string   // the URL that the pages' begin with; "" if they are not from a site
	Projects []string // what the source calls itself, surest first
	Titles   []string // of documents
	Headings []string // one of each document
	Openings []string // how the text below it begins
	URLs     []string // of documents
	Own      []string // that some of the pages give as their own
}

// maxDocuments is how many documents are looked at, evenly spread over the database.
const maxDocuments = 2000

// Gather reads what the database in folder dir says, and what the folder that it
// was built from says if own is true: if the user built it.
func Gather(dir, keyword string, own bool) (Suggestions, error) {
	e := Suggestions{Keyword: keyword}
	g, err := generation.Current(dir)
	if err != nil {
		return e, err
	}
	table, err := passage.OpenTable(g)
	if err != nil {
		return e, err
	}
	defer table.Close()
	var files []string
	for i := range min(maxDocuments, table.Documents()) {
		members, err := table.Members(uint32(i * table.Documents() / min(maxDocuments, table.Documents())))
		if err != nil {
			return e, err
		}
		middle, err := table.Passage(members[len(members)/2])
		if err != nil {
			return e, err
		}
		if n := len(middle.Headings); n > 0 {
			e.Headings = append(e.Headings, middle.Headings[n-1])
		}
		e.Openings = append(e.Openings, opening(middle.Text))
		p, err := table.Passage(members[0])
		if err != nil {
			return e, err
		}
		e.Titles = append(e.Titles, p.Name())
		if p.URL != "" {
			e.URLs = append(e.URLs, p.Document())
		} else if name, err := filepath.Rel(g.Source.Root, p.Path); err == nil {
			files = append(files, name)
		}
	}
	switch {
	case g.Source.Kind == ingest.KindSite:
		e.readMirror(filepath.Join(dir, ingest.MirrorName))
	case g.Source.Root != "" && own:
		e.readFolder(g.Source.Root, files)
	}
	return e, nil
}

// opening is the first few words of a passage's first paragraph.
func opening(text string) string {
	const words = 7
	for line := range strings.Lines(text) {
		if strings.IndexFunc(line, unicode.IsLetter) == 0 {
			found := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
			return strings.Join(found[:min(words, len(found))], " ")
		}
	}
	return ""
}

// maxPages is how many pages are read for what they say of their site.
const maxPages = 50

// readMirror reads what the pages say of the site that they were fetched from.
func (e *Suggestions) readMirror(dir string) {
	m, err := site.Open(dir)
	if err != nil {
		return // the passages say enough
	}
	e.Site = m.Prefix
	all := m.Pages()
	var heads []pageHead
	for i := range min(maxPages, len(all)) {
		page := all[i*len(all)/min(maxPages, len(all))]
		if data, err := m.Read(page); err == nil && strings.Contains(page.ContentType, "html") {
			heads = append(heads, parseHead(data))
		}
	}
	e.addHeads(heads)
}

// readFolder reads what the folder of the documents says of itself.
func (e *Suggestions) readFolder(dir string, files []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // the passages say enough
	}
	defer root.Close()
	e.addProject(root)
	var heads []pageHead
	for i := range min(maxPages, len(files)) {
		name := files[i*len(files)/min(maxPages, len(files))]
		switch strings.ToLower(filepath.Ext(name)) {
		case ".html", ".htm", ".xhtml":
			if h, err := readHead(root, name); err == nil {
				heads = append(heads, h)
			}
		}
	}
	e.addHeads(heads)
	// A project's own files are beside its documentation or above it, up to
	// where its repository begins.
	if repository := repositoryOf(dir); repository != "" {
		for dir != repository {
			dir = filepath.Dir(dir)
			if above, err := os.OpenRoot(dir); err == nil {
				e.addProject(above)
				above.Close()
			}
		}
	}
}

// addHeads adds what the pages say of the site that they are of.
func (e *Suggestions) addHeads(heads []pageHead) {
	var titles []string
	for _, h := range heads {
		if h.siteName != "" {
			e.Projects = append(e.Projects, h.siteName)
		}
		if h.url != "" {
			e.Own = append(e.Own, h.url)
		}
		titles = append(titles, h.title)
	}
	if name := siteName(titles); name != "" {
		e.Projects = append(e.Projects, name)
	}
}

// repositoryOf is the folder with the .git that dir is in, "" if there is none.
func repositoryOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// readBeginning reads the beginning of a file, which is all of those that matter.
func readBeginning(root *os.Root, name string) ([]byte, error) {
	const enough = 256 << 10
	if st, err := root.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid) // opening a pipe would wait for its other end
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, enough)
	n, err := readFull(f, buf)
	return buf[:n], err
}
