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

// findTerms finds out what the source calls its places: the documents and the
// anchors in them.
func (c *collector) findTerms(ctx context.Context, items []source.Item, before *earlier) error {
	c.terms = c.readTermIndexes(ctx, items, before)
	for _, place := range slices.Sorted(maps.Keys(c.named)) {
		for _, t := range c.named[place] {
			addTerm(c.terms, place, document.CleanTerm(t))
		}
	}
	return ctx.Err()
}

// readTermIndexes reads the source's own indexes, as books have them at their
// end: what they call each place. Generators give them their names. Those that
// were read before need not be again.
func (c *collector) readTermIndexes(ctx context.Context, items []source.Item, before *earlier) map[string][]string {
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
		if of := c.nameOf(pages); of != "" && of == before.Terms.Of {
			if terms, err := before.Terms.unpack(); err == nil {
				c.packed = before.Terms
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
			continue // it is said when the page's turn comes
		}
		it.Hash = cmp.Or(it.Hash, source.Hash(data))
		readTerms(data, c.Target(it.Name), terms)
	}
	c.packed = packTerms(c.nameOf(pages), terms)
	return terms
}

// nameOf is a name for all that the terms on those pages depend on; "" if it is
// not known what is on them.
func (c *collector) nameOf(pages []source.Item) string {
	parts := []string{c.context}
	for i := range pages {
		if pages[i].Hash == "" {
			return ""
		}
		parts = append(parts, pages[i].Name, pages[i].Hash)
	}
	return source.Digest(parts...)
}

// A packedTerms is the terms of places as a generation keeps them.
type packedTerms struct {
	Of   string // a name for the pages that they are from
	Data []byte
}

// packTerms packs the terms of places: compressed, each place, in their order,
// with the number of its terms and these. Numbers and texts are as in FilesName.
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
		panic(err) // there is such a level
	}
	z.Write(b) // into memory
	z.Close()
	return packedTerms{of, packed.Bytes()}
}

// unpack is what packTerms packed.
func (p packedTerms) unpack() (map[string][]string, error) {
	const most = 1 << 28 // a little may have been packed to fill the memory
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

// isTermIndex reports whether the page of that name is an index of terms.
func isTermIndex(name string) bool {
	base := path.Base(name) // of a folder's page, the folder's
	sphinx, _ := path.Match("genindex*.html", base)
	return sphinx || base == "genindex" || base == "bookindex.html"
}

// readTerms adds the terms of an index page. Its entries are items of lists
// that stand in one another: "certificate", and below it "renew". What leads to
// the place is the entry itself, or what stands after it. target is the place
// that a link leads to, "" if it is none of the source.
func readTerms(data []byte, target func(href string) string, terms map[string][]string) {
	r := termReader{z: html.NewTokenizer(bytes.NewReader(document.FromUTF16(data)))}
	for {
		switch r.z.Next() {
		case html.ErrorToken:
			return // the end: there is no other error of bytes in memory
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

// A termReader is where in an index page readTerms is.
type termReader struct {
	z    *html.Tokenizer
	open []entry // the entries around, outermost first
	last string  // the dt that ended last, which a dd behind it belongs to
	href string  // of the open link
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

// end reads an end tag. It returns a link that ends, and its term.
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

// innermost is the innermost open entry, or nil.
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

// close closes the innermost open entry of the tag, with those in it.
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

// An entry is an item of an index while it is read.
type entry struct {
	tag   atom.Atom
	above string // what the entries around it say
	text  string // since it began or since its last link
	own   string // what it says itself
}

// begin takes what stands before a link as what the entry says.
func (e *entry) begin() {
	if e.own == "" {
		e.own = document.CleanTerm(e.text)
	}
	e.text = ""
}

// end returns the term of the link that ends; it is the entry if nothing stood
// before it.
func (e *entry) end() string {
	if e.own == "" {
		e.own = document.CleanTerm(e.text)
	}
	e.text = ""
	return e.term()
}

func (e *entry) term() string {
	own := e.own
	if own == "" {
		own = document.CleanTerm(e.text)
	}
	above := e.above
	if i := strings.LastIndex(above, " ("); i > 0 && strings.HasPrefix(own, "(") {
		above = above[:i] // Sphinx puts "f() (of A)" above "(of B)"
	}
	return strings.TrimSpace(above + " " + own)
}

func addTerm(terms map[string][]string, target, term string) {
	if target == "" || len(term) > document.MaxTermLength || len(terms[target]) == document.MaxTerms || slices.Contains(terms[target], term) {
		return
	}
	terms[target] = append(terms[target], term)
}

// addTerms gives a passage the terms of the places in it. Those of its document
// as a whole are the first passage's. Where there are no terms at all, anchors
// that look like those of an index may be the document's own, and stay.
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

// addTermContexts makes the terms of the places in each item a part of what its
// passages depend on.
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
// index-3, index-0-variable:PATH. Only the index leads there, and the name in it
// is of what is mentioned, not of what is defined.
func isEntry(anchor string) bool {
	rest, ok := strings.CutPrefix(anchor, "index-")
	number, _, _ := strings.Cut(rest, "-")
	_, err := strconv.Atoi(number)
	return ok && err == nil
}
