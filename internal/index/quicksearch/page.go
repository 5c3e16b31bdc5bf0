package quicksearch

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
)

// A PageQuery requests a page by its URL.
type PageQuery struct {
	URL      string
	Prefixes []string // URL prefixes of the database's pages
	Version  string   // of the documented software; "": the version that the build detected
	Text     string   // the query that the page should answer
	Limit    int      // maximum number of sections from a long page
	MaxBytes int      // pages up to this many bytes are short and returned whole
}

// A Page is the result of a PageQuery.
type Page struct {
	Hits  []Hit // all in document order if Whole, otherwise the best first
	Whole bool  // the page is short
}

// Page finds a page and its sections that answer the query. It returns false if the
// database does not contain the page.
func (x *Index) Page(q PageQuery) (Page, bool, error) {
	q.Version = x.gen.VersionOr(q.Version)
	a, ok := urlmatch.Parse(q.URL)
	if !ok {
		return Page{}, false, nil
	}
	d, found, err := x.document(a, &q)
	if err != nil || !found {
		return Page{}, false, err
	}
	documents, err := x.table.PageDocuments(d)
	if err != nil {
		return Page{}, false, err
	}
	var members []uint32
	for _, d := range documents {
		of, err := x.table.Members(d)
		if err != nil {
			return Page{}, false, err
		}
		members = append(members, of...)
	}
	if len(members) == 0 {
		return Page{}, false, nil
	}
	size := 0
	for _, n := range members {
		length, err := x.table.LineLength(n)
		if err != nil {
			return Page{}, false, err
		}
		if size += length; size > q.MaxBytes {
			break
		}
	}
	if size <= q.MaxBytes {
		hits, err := x.hits(members)
		return Page{hits, true}, true, err
	}
	numbers, err := x.sections(documents, members, a.Fragment, &q)
	if err != nil {
		return Page{}, false, err
	}
	hits, err := x.hits(numbers)
	return Page{Hits: hits}, true, err
}

// document finds the document of a page whose URL matches one of the query's prefixes.
func (x *Index) document(a urlmatch.Address, q *PageQuery) (uint32, bool, error) {
	within := func(prefix string) bool {
		_, ok := a.Within(prefix, q.Version)
		return ok
	}
	if !slices.ContainsFunc(q.Prefixes, within) {
		return 0, false, nil
	}
	return FindPage(x.gen, x.table, a, q.Prefixes, q.Version)
}

// FindPage finds the document of a page: by one of its URLs or, in a database of files, by
// its address or the file path relative to a URL prefix. version is that of the documented software, ""
// if unknown.
func FindPage(g generation.Generation, t *passage.Table, a urlmatch.Address, prefixes []string,
	version string) (uint32, bool, error) {
	if t.Documents() == 0 {
		return 0, false, nil
	}
	sample, err := t.Key(0)
	if err != nil {
		return 0, false, err
	}
	for key := range a.Keys(version, sample) {
		if d, found, err := t.FindDocument(key); found || err != nil {
			return d, found, err
		}
	}
	if d, found, err := findAlias(g, t, a.Keys(version, sample)); found || err != nil {
		return d, found, err
	}
	if d, found, err := findAddress(t, a, prefixes, version); found || err != nil {
		return d, found, err
	}
	for _, prefix := range prefixes {
		rest, ok := a.Within(prefix, version)
		if !ok {
			continue
		}
		if file, ok := urlmatch.RepositoryFile(rest, version); ok {
			rest = file
		}
		for file := range urlmatch.Files(rest) {
			if d, found, err := t.FindDocument(file); found || err != nil {
				return d, found, err
			}
		}
	}
	return 0, false, nil
}

// findAddress finds the document of a page by the address that the build derived for it.
func findAddress(t *passage.Table, a urlmatch.Address, prefixes []string, version string) (uint32, bool, error) {
	for path := range a.Paths(version, "") {
		page := urlmatch.Address{Host: a.Host, Path: path}
		for _, prefix := range prefixes {
			rest, ok := page.Within(prefix, version)
			if !ok {
				continue
			}
			rest = urlmatch.Unescape(rest)
			d, found, err := t.FindAddress(urlmatch.Unescape(path), rest)
			if found || err != nil {
				return d, found, err
			}
			// Below example.org/docs/example/, "example" need not be a folder of the files.
			if name, rest, ok := strings.Cut(rest, "/"); ok && slices.Contains(strings.Split(a.Host, "."), name) {
				if d, found, err := t.FindAddress(rest, rest); found || err != nil {
					return d, found, err
				}
			}
		}
	}
	return 0, false, nil
}

// findAlias finds the document of a page by a URL that redirects to it or has the same
// content.
func findAlias(g generation.Generation, t *passage.Table, urls iter.Seq[string]) (d uint32, found bool, err error) {
	aliases, err := passage.OpenAliases(g)
	if err != nil || aliases == nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, aliases.Close()) }()
	for url := range urls {
		key, found, err := aliases.Find(url)
		if err != nil {
			return 0, false, err
		}
		if found {
			return t.FindDocument(key)
		}
	}
	return 0, false, nil
}

// sections returns the passages of a long page that answer the query: first the target of
// the URL's fragment, then the best. If none contains a word of the query, it returns the
// first passages.
func (x *Index) sections(documents, members []uint32, fragment string, q *PageQuery) ([]uint32, error) {
	var numbers []uint32
	if fragment != "" {
		n, found, err := x.anchored(members, fragment)
		if err != nil {
			return nil, err
		}
		if found {
			numbers = append(numbers, n)
		}
	}
	hits, err := x.lexical.SearchDocuments(lexical.Query{Text: q.Text, Limit: q.Limit}, documents...)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if !slices.Contains(numbers, h.Passage) {
			numbers = append(numbers, h.Passage)
		}
	}
	if len(numbers) == 0 {
		numbers = members
	}
	return numbers[:min(len(numbers), q.Limit)], nil
}

// anchored returns the passage that contains the target of a fragment: an anchor or else a
// heading. It decodes only lines that contain the fragment, unless a heading is the target.
func (x *Index) anchored(members []uint32, fragment string) (uint32, bool, error) {
	plain := urlmatch.Unescape(fragment)
	n, found, err := x.first(members, func(line []byte) bool {
		text := string(line)
		if !strings.Contains(text, fragment) && !strings.Contains(text, plain) {
			return false
		}
		p, err := passage.Decode(line)
		return err == nil && HasAnchor(&p, fragment)
	})
	if found || err != nil {
		return n, found, err
	}
	return x.first(members, func(line []byte) bool {
		p, err := passage.Decode(line)
		return err == nil && HasHeading(&p, fragment)
	})
}

// first returns the first passage whose line is wanted.
func (x *Index) first(members []uint32, wanted func(line []byte) bool) (uint32, bool, error) {
	for _, n := range members {
		line, err := x.table.Line(n)
		if err != nil {
			return 0, false, err
		}
		if wanted(line) {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// HasHeading reports whether the passage is in or contains a section whose heading becomes
// the fragment. Generators derive anchors from headings by different rules, but keep their
// letters and digits.
func HasHeading(p *passage.Passage, fragment string) bool {
	want := lettersOf(urlmatch.Unescape(fragment))
	is := func(heading string) bool { return lettersOf(heading) == want }
	if want == "" || slices.ContainsFunc(p.Headings, is) {
		return want != ""
	}
	for line := range strings.Lines(p.Text) {
		if strings.HasPrefix(line, "#") && is(line) {
			return true
		}
	}
	return false
}

// lettersOf returns the letters and digits of a text in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// HasAnchor reports whether the passage contains the target of a fragment, which may be
// percent-encoded.
func HasAnchor(p *passage.Passage, fragment string) bool {
	has := func(anchor string) bool {
		return slices.Contains(p.Anchors, anchor) || strings.HasSuffix(p.URL, "#"+anchor)
	}
	plain := urlmatch.Unescape(fragment)
	return has(fragment) || plain != fragment && has(plain)
}

func (x *Index) hits(numbers []uint32) ([]Hit, error) {
	passages, err := x.table.Read(numbers)
	hits := make([]Hit, len(passages))
	for i, p := range passages {
		hits[i] = Hit{Passage: p, Number: numbers[i]}
	}
	return hits, err
}
