package index

import (
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// maxLinkText is how much text of the links to one place is indexed, in
	// bytes. What hundreds of links say, the first ones say.
	maxLinkText = 1 << 10
	// maxOneText is how long a link's text may be to say anything of where it
	// leads.
	maxOneText = 80
)

// A linkGraph is what the passages of a database say of one another: which
// places are led to, by how many documents, and in which words. A document's
// links to itself count nothing, and several to one place count once.
type linkGraph struct {
	documents map[string]*place // by key
	anchors   map[string]*place // by key#anchor
	named     map[string]bool   // documents whose link texts were given out
}

// A place is a document or an anchor in it.
type place struct {
	count int
	last  string // document that was counted last
	text  []string
	bytes int
}

// add takes the links of a passage of the document from. The passages of a
// document must come one after another.
func (g *linkGraph) add(from string, links []passage.Link) {
	if g.documents == nil {
		*g = linkGraph{make(map[string]*place), make(map[string]*place), make(map[string]bool)}
	}
	for _, link := range links {
		to, anchor, _ := strings.Cut(link.To, "#")
		if to == "" || to == from {
			continue
		}
		enter(g.documents, to, from, link.Text, anchor == "")
		if anchor != "" {
			enter(g.anchors, link.To, from, link.Text, true)
		}
	}
}

func enter(places map[string]*place, to, from, text string, keep bool) {
	at := places[to]
	if at == nil {
		at = &place{}
		places[to] = at
	}
	if at.last != from || at.count == 0 {
		at.last = from
		at.count++
	}
	text = strings.TrimSpace(text)
	if !keep || text == "" || len(text) > maxOneText || at.bytes+len(text) > maxLinkText {
		return
	}
	at.text = append(at.text, text)
	at.bytes += len(text)
}

// pass notes a passage of the document that nothing is to be known of.
func (g *linkGraph) pass(document string) {
	if g.documents[document] != nil {
		g.named[document] = true
	}
}

// of returns how often the passage and its document are led to, and the words
// that lead there. Those that lead to the document as a whole are its first
// passage's.
func (g *linkGraph) of(p *passage.Passage) (inLinks, pageInLinks int, text string) {
	key := p.Document()
	if g.documents == nil || key == "" {
		return 0, 0, ""
	}
	var words []string
	if at := g.documents[key]; at != nil {
		pageInLinks = at.count
		if !g.named[key] {
			g.named[key] = true
			words = at.text
		}
	}
	for _, anchor := range p.Anchors {
		if at := g.anchors[key+"#"+anchor]; at != nil {
			inLinks += at.count
			words = append(words[:len(words):len(words)], at.text...)
		}
	}
	return inLinks, pageInLinks, strings.Join(words, "\n")
}
