package ingest

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// findTerms collects the terms that the source uses for its documents and
// anchors.
func (c *collector) findTerms(ctx context.Context, items []source.Item, before *previous) error {
	c.terms = c.readTermIndexes(ctx, items, before)
	for _, place := range slices.Sorted(maps.Keys(c.sourceTerms)) {
		for _, t := range c.sourceTerms[place] {
			addTerm(c.terms, place, document.CleanTerm(t))
		}
	}
	return ctx.Err()
}

// readTermIndexes reads the source's term index pages, which work like the
// index of a book. Generators give them fixed names. Pages that are unchanged
// are not read again.
func (c *collector) readTermIndexes(ctx context.Context, items []source.Item, before *previous) map[string][]string {
	var pages []source.Item
	for _, it := range items {
		if isTermIndex(it.Name) {
			pages = append(pages, it)
		}
	}
	terms := map[string][]string{}
	if len(pages) == 0 {
		return terms
	}
	if before != nil {
		for i := range pages {
			it := &pages[i]
			if was := before.find(it.Name); was != nil && before.untouched(was, it.Size, it.ModTime) {
				it.Hash = was.Hash
			}
		}
		if of := c.pagesDigest(pages); of != "" && of == before.Terms.PagesDigest {
			if terms, err := before.Terms.unpack(); err == nil {
				c.pageTerms = before.Terms
				return terms
			}
		}
	}
	for i := range pages {
		if ctx.Err() != nil {
			break
		}
		it := &pages[i]
		data, err := c.Load(it)
		if err != nil {
			continue // reported when the page itself is read
		}
		it.Hash = cmp.Or(it.Hash, source.Hash(data))
		// Terms only improve ranking, so a fault costs the terms and not the page.
		_ = withoutFault(func() error {
			readTerms(data, func(href string) string { return c.Target(it.Name, href) }, terms)
			return nil
		})
	}
	c.pageTerms = packTerms(c.pagesDigest(pages), terms)
	return terms
}

// pagesDigest returns a digest of everything that the terms on those pages
// depend on; "" if the contents are unknown.
func (c *collector) pagesDigest(pages []source.Item) string {
	parts := []string{c.context}
	for i := range pages {
		if pages[i].Hash == "" {
			return ""
		}
		parts = append(parts, pages[i].Name, pages[i].Hash)
	}
	return source.Digest(parts...)
}

// packedTerms holds the terms by target, as a generation stores them.
type packedTerms struct {
	PagesDigest string // digest of the pages
	Data        []byte
}

// packTerms encodes and compresses terms: for each target, in order, its name,
// the number of its terms, and the terms. Numbers and texts are encoded as in
// FilesName.
func packTerms(of string, terms map[string][]string) packedTerms {
	var b []byte
	last := ""
	for _, place := range slices.Sorted(maps.Keys(terms)) {
		b = appendName(b, place, last)
		last = place
		b = binary.AppendUvarint(b, uint64(len(terms[place])))
		for _, t := range terms[place] {
			b = appendText(b, t)
		}
	}
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	z.Write(b) // writing to memory does not fail
	z.Close()
	return packedTerms{of, packed.Bytes()}
}

// unpack decodes the output of packTerms.
func (p packedTerms) unpack() (map[string][]string, error) {
	const most = 1 << 28 // bounds the memory that a small input can decompress to
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(p.Data)), most))
	if err != nil {
		return nil, err
	}
	return readPlaces(string(data))
}

func readPlaces(data string) (map[string][]string, error) {
	in := &fields{data: data, corrupt: func(_ int64, what string) error { return errors.New(what) }}
	terms := map[string][]string{}
	for last := ""; in.more(); {
		last = in.name(last)
		list := make([]string, in.count())
		for i := range list {
			list[i] = in.text()
		}
		terms[last] = list
	}
	return terms, in.err
}

// isTermIndex reports whether the page with that name is a term index.
func isTermIndex(name string) bool {
	base := path.Base(name) // for the page of a folder, the folder's name
	sphinx, _ := path.Match("genindex*.html", base)
	return sphinx || base == "genindex" || base == "bookindex.html"
}

// readTerms adds the terms of an index page. Entries are nested list items:
// "certificate", and below it "renew". A link's term is the entry itself or the
// text after it. target resolves a link; it returns "" if the target is outside
// the source.
func readTerms(data []byte, target func(href string) string, terms map[string][]string) {
	r := termReader{z: html.NewTokenizer(bytes.NewReader(document.FromUTF16(data)))}
	for {
		switch r.z.Next() {
		case html.ErrorToken:
			return // end of input: reading from memory has no other error
		case html.TextToken:
			if e := r.innermost(); e != nil && len(e.text) < document.MaxTermLength {
				e.text += string(r.z.Text())
			}
		case html.StartTagToken:
			const deepest = 16
			if r.start(); len(r.open) > deepest {
				return
			}
		case html.EndTagToken:
			if href, term := r.end(); term != "" {
				addTerm(terms, target(href), term)
			}
		}
	}
}

// A termReader is the state of readTerms within an index page.
type termReader struct {
	z    *html.Tokenizer
	open []entry // enclosing entries, outermost first
	last string  // the last closed dt, to which a following dd belongs
	href string  // target of the open link
}

// start reads a start tag.
func (r *termReader) start() {
	tag, attrs := r.z.TagName()
	switch a := atom.Lookup(tag); a {
	case atom.Li, atom.Dt, atom.Dd:
		r.begin(a)
	case atom.A:
		r.href = ""
		for attrs {
			var key, value []byte
			if key, value, attrs = r.z.TagAttr(); string(key) == "href" {
				r.href = string(value)
			}
		}
		if e := r.innermost(); e != nil {
			e.begin()
		}
	}
}

// end reads an end tag. If it closes a link, it returns the link and its term.
func (r *termReader) end() (href, term string) {
	tag, _ := r.z.TagName()
	switch a := atom.Lookup(tag); a {
	case atom.Li, atom.Dt, atom.Dd:
		r.close(a)
	case atom.A:
		href, r.href = r.href, ""
		if e := r.innermost(); e != nil && href != "" {
			term = e.end()
		}
	}
	return href, term
}

// innermost returns the innermost open entry, or nil.
func (r *termReader) innermost() *entry {
	if len(r.open) == 0 {
		return nil
	}
	return &r.open[len(r.open)-1]
}

// begin opens an entry.
func (r *termReader) begin(tag atom.Atom) {
	e := entry{tag: tag}
	switch around := r.innermost(); {
	case tag == atom.Dd:
		e.above = r.last
	case around != nil && around.tag == atom.Dd:
		e.above = around.above
	case around != nil:
		e.above = around.term()
	}
	r.open = append(r.open, e)
}

// close closes the innermost open entry with that tag and the entries within
// it.
func (r *termReader) close(tag atom.Atom) {
	i := len(r.open) - 1
	for i >= 0 && r.open[i].tag != tag {
		i--
	}
	if i < 0 {
		return
	}
	if tag == atom.Dt {
		r.last = r.open[i].term()
	}
	r.open = r.open[:i]
}

// An entry is an index entry that is being read.
type entry struct {
	tag   atom.Atom
	above string // text of the enclosing entries
	text  string // text since its start or its last link
	own   string // its own text
}

// begin takes the text before a link as the entry's own text.
func (e *entry) begin() {
	if e.own == "" {
		e.own = document.CleanTerm(e.text)
	}
	e.text = ""
}

// end returns the term of the closed link: the entry, followed by any text
// before the link.
func (e *entry) end() string {
	e.begin()
	return e.term()
}

func (e *entry) term() string {
	own := cmp.Or(e.own, document.CleanTerm(e.text))
	above := e.above
	if i := strings.LastIndex(above, " ("); i > 0 && strings.HasPrefix(own, "(") {
		above = above[:i] // Sphinx puts "f() (of A)" above "(of B)"
	}
	return strings.TrimSpace(above + " " + own)
}

func addTerm(terms map[string][]string, target, term string) {
	if target == "" || len(term) > document.MaxTermLength || len(terms[target]) == document.MaxTerms ||
		slices.Contains(terms[target], term) {
		return
	}
	terms[target] = append(terms[target], term)
}

// addTerms adds the terms of the passage's anchors, and to the first passage
// those of the document. If the source has no terms at all, it keeps anchors
// that look like those of an index, because they may be the document's own.
func (c *collector) addTerms(p *passage.Passage, first bool) {
	if len(c.terms) == 0 {
		return
	}
	terms := p.Terms()
	had := len(terms)
	add := func(place string) {
		for _, t := range c.terms[place] {
			if len(terms) < document.MaxPassageTerms && !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		}
	}
	document := p.Document()
	if first {
		add(document)
	}
	for _, a := range p.Anchors {
		add(document + "#" + a)
	}
	if len(terms) > had {
		p.SetTerms(terms)
	}
	p.Anchors = slices.DeleteFunc(slices.Clone(p.Anchors), isEntry)
}

// addTermContexts adds the terms of each item's targets to the item's context.
func (c *collector) addTermContexts(items []source.Item) {
	of := map[string][]string{}
	for _, place := range slices.Sorted(maps.Keys(c.terms)) {
		name, _, _ := strings.Cut(place, "#")
		of[name] = append(append(of[name], place), c.terms[place]...)
	}
	for i := range items {
		if terms := of[items[i].Name]; len(terms) > 0 {
			items[i].Context = source.Digest(append(terms, items[i].Context)...)
		}
	}
}

// isEntry reports whether Sphinx made the anchor for an entry of its index:
// index-3, index-0-variable:PATH. Only the index links to it. It shows where a
// name is mentioned, not where it is defined.
func isEntry(anchor string) bool {
	rest, ok := strings.CutPrefix(anchor, "index-")
	number, _, _ := strings.Cut(rest, "-")
	_, err := strconv.Atoi(number)
	return ok && err == nil
}
