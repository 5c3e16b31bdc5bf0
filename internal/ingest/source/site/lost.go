package site

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/index/generation"
)

// markGone records that the site no longer has a page.
func (r *run) markGone(u string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone[u] = true
}

// noteText records the text of a new or changed page.
func (r *run) noteText(rec record, contents []byte) {
	if !r.opt.KeepLost || len(r.journal.m.before) < generation.FewestLost ||
		r.journal.m.before[rec.URL].Hash == hashOf(contents) {
		return
	}
	digest := textDigest(contents, rec.Type)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[rec.URL] = digest
}

// keepLost looks for lost pages of the previous mirror: those that are gone or show the
// same text as others. If too many are lost, it keeps all of them.
func (r *run) keepLost() {
	before := r.journal.m.before
	gone := r.unlisted()
	byText := map[uint64][]string{}
	for u := range before {
		if r.gone[u] {
			gone = append(gone, u)
		} else if digest, changed := r.texts[r.journal.m.target(u, nil)]; changed {
			byText[digest] = append(byText[digest], u)
		}
	}
	var masked, masks []string // pages with equal text, before and after
	for digest, urls := range byText {
		if len(urls) < generation.FewestLost || !r.differed(urls) {
			continue
		}
		masked = append(masked, urls...)
		for u, d := range r.texts {
			if _, had := before[u]; d == digest && !had {
				masks = append(masks, u)
			}
		}
	}
	lost := len(gone) + len(masked)
	if !generation.HasLost(lost, r.newPages()-len(masks), len(before)) {
		return
	}
	r.journal.restore(slices.Concat(gone, masked, masks))
	r.report.Lost = lost
	why := "the site no longer has them"
	switch {
	case len(gone) == 0:
		why = "the site returns one page for all of them, such as a login page"
	case len(masked) > 0:
		why = fmt.Sprintf("the site no longer has %d of them and returns one page for %d, such as a login page",
			len(gone), len(masked))
	}
	r.limit("kept the previous version of %d of %d pages: %s", lost, len(before), why)
}

// unlisted returns the pages of the mirror that are missing from a list of the
// same kind as before.
func (r *run) unlisted() []string {
	var urls []string
	for u := range r.journal.m.before {
		if !r.seen[u] && !r.keep[u] && r.report.Discovery == r.journal.m.Discovery {
			urls = append(urls, u)
		}
	}
	return urls
}

// newPages returns the number of pages that the mirror did not have before.
func (r *run) newPages() int {
	n := 0
	for u, rec := range r.journal.m.records {
		if _, had := r.journal.m.before[u]; rec.Hash != "" && !had {
			n++
		}
	}
	return n
}

// differed reports whether pages with equal text now had different texts
// before. Pages that are rendered by scripts never had.
func (r *run) differed(urls []string) bool {
	texts := map[uint64]bool{}
	for _, u := range urls {
		old := r.journal.m.before[u]
		texts[textDigest(r.journal.contents(old), old.Type)] = true
	}
	return len(texts)*2 > len(urls)
}

// textDigest returns a digest of the visible text of a page: its words without
// tags, attributes and scripts, which may contain varying tokens.
func textDigest(contents []byte, contentType string) uint64 {
	h := fnv.New64a()
	if !isHTML(contentType) {
		h.Write(contents)
		return h.Sum64()
	}
	z := html.NewTokenizer(bytes.NewReader(contents))
	hidden := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return h.Sum64()
		case html.StartTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			hidden = tag == atom.Script || tag == atom.Style
		case html.EndTagToken:
			hidden = false
		case html.TextToken:
			for word := range bytes.FieldsSeq(z.Text()) {
				if !hidden {
					h.Write(word)
					h.Write([]byte{' '})
				}
			}
		}
	}
}
