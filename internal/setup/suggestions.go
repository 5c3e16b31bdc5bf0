// Package setup suggests a config entry for a database: keywords, URL prefixes, a
// description, and a test query.
//
// The user confirms the suggestions. A missing keyword costs one local search
// that does not happen; an extra keyword makes every web search with that word a
// local search. Therefore package setup suggests only the names that the
// documentation uses for itself, and the words in titles that can only be names.
package setup

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
)

// Suggestions is the evidence in a database and its source, from which the
// methods derive suggestions.
type Suggestions struct {
	Keyword    string   // chosen by the user
	Site       string   // URL prefix of the downloaded pages; "" if the source is not a site
	Partial    bool     // a limit left out pages of the site
	Projects   []string // names of the project, most reliable first
	Titles     []string // of documents
	Headings   []string // one per document
	Openings   []string // first words of the text below each heading
	URLs       []string // of documents
	Repository string   // URL of the repository on GitHub that is the source, or ""
	Own        []string // canonical URLs in pages and project files
	Answered   []string // queries that the database is known to answer; candidates for the test query
}

// maxDocuments limits the documents that Gather reads, evenly spread over the
// database.
const maxDocuments = 2000

// Gather collects evidence from the database in folder dir. If own is true, the
// user built the database, and Gather also reads the folder of its source.
func Gather(dir, keyword string, own bool) (Suggestions, error) {
	s := Suggestions{Keyword: keyword}
	g, err := generation.Current(dir)
	if err != nil {
		return s, err
	}
	table, err := passage.OpenTable(g)
	if err != nil {
		return s, err
	}
	defer table.Close()
	var files []string
	for i := range min(maxDocuments, table.Documents()) {
		members, err := table.Members(uint32(i * table.Documents() / min(maxDocuments, table.Documents())))
		if err != nil {
			return s, err
		}
		middle, err := table.Passage(members[len(members)/2])
		if err != nil {
			return s, err
		}
		p, err := table.Passage(members[0])
		if err != nil {
			return s, err
		}
		page := p.Document()
		if name, err := filepath.Rel(g.Source.Root, p.Path); err == nil && p.URL == "" {
			page = name
			files = append(files, name)
		}
		// People ask about what is, not about what changed or about the project.
		if p.Kind() == "" && !lexical.IsSecondaryPage(page) {
			if n := len(middle.Headings); n > 0 {
				s.Headings = append(s.Headings, middle.Headings[n-1])
			}
			s.Openings = append(s.Openings, opening(middle.Text))
			s.Titles = append(s.Titles, p.Name())
		}
		if p.URL != "" {
			s.URLs = append(s.URLs, p.Document())
			continue
		}
		if strings.Contains(p.Address(), "://") {
			s.URLs = append(s.URLs, p.Address())
		}
	}
	if repository, _, _ := strings.Cut(g.Source.Location, "#"); g.Source.Kind == ingest.KindGit && strings.HasPrefix(repository, "https://github.com/") {
		s.Repository = strings.TrimSuffix(repository, ".git") + "/"
	}
	switch {
	case g.Source.Kind == ingest.KindSite:
		s.readMirror(filepath.Join(dir, ingest.MirrorName))
	case g.Source.Root != "" && own:
		s.readFolder(g.Source.Root, files)
	}
	return s, nil
}

// opening returns the first words of a passage's first paragraph.
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

// maxPages limits the pages whose head is read.
const maxPages = 50

// readMirror adds evidence from the downloaded pages of a site.
func (s *Suggestions) readMirror(dir string) {
	m, err := site.Open(dir)
	if err != nil {
		return // the passages are sufficient
	}
	s.Site, s.Partial = m.Prefix, m.Partial
	all := m.Pages()
	var heads []pageHead
	for i := range min(maxPages, len(all)) {
		page := all[i*len(all)/min(maxPages, len(all))]
		if data, err := m.Read(page); err == nil && strings.Contains(page.ContentType, "html") {
			h := parseHead(data)
			if !isSamePage(page.URL, h.url) && page.URL != m.Prefix {
				h.url = "" // of the site's home page, for example
			}
			heads = append(heads, h)
		}
	}
	s.addHeads(heads)
}

// isSamePage reports whether two URLs end in the same name.
func isSamePage(a, b string) bool {
	name := func(s string) string {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "/"), "/index.html")
		return strings.TrimSuffix(s[strings.LastIndexByte(s, '/')+1:], ".html")
	}
	return name(a) == name(b)
}

// readFolder adds evidence from the source folder.
func (s *Suggestions) readFolder(dir string, files []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // the passages are sufficient
	}
	defer root.Close()
	s.addProject(root)
	var heads []pageHead
	for i := range min(maxPages, len(files)) {
		name := files[i*len(files)/min(maxPages, len(files))]
		switch strings.ToLower(filepath.Ext(name)) {
		case ".html", ".htm", ".xhtml":
			if page, err := readBeginning(root, name); err == nil {
				heads = append(heads, parseHead(page))
			}
		}
	}
	s.addHeads(heads)
	// Project files are in the folder of the documentation or above it, up to the
	// root of the repository.
	if repository := repositoryOf(dir); repository != "" {
		for dir != repository {
			dir = filepath.Dir(dir)
			if above, err := os.OpenRoot(dir); err == nil {
				s.addProject(above)
				above.Close()
			}
		}
	}
}

// addHeads adds site names and canonical URLs from the heads of pages.
func (s *Suggestions) addHeads(heads []pageHead) {
	var titles []string
	for _, h := range heads {
		if h.siteName != "" {
			s.Projects = append(s.Projects, h.siteName)
		}
		if h.url != "" {
			s.Own = append(s.Own, h.url)
		}
		titles = append(titles, h.title)
	}
	if name := siteName(titles); name != "" {
		s.Projects = append(s.Projects, name)
	}
}

// repositoryOf returns the nearest folder at or above dir that contains .git, or
// "".
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

// readBeginning reads the first 256 KiB of a file. Project files are shorter, and
// the head of a page is at its start.
func readBeginning(root *os.Root, name string) ([]byte, error) {
	const maxBytes = 256 << 10
	if st, err := root.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid) // opening a named pipe would block
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes))
}
