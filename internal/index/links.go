package index

import (
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// maxTargetText limits the indexed anchor text per link target, in bytes. Further
	// links rarely add new words.
	maxTargetText = 1 << 10
	// maxAnchorText is the maximum length of an anchor text, in bytes. Longer texts do
	// not describe the target.
	maxAnchorText = 80
)

// A linkGraph contains the inbound links of a database's documents: for each target,
// the number of linking documents and the anchor texts. Links within a document are
// ignored, and several links from one document to the same target count once.
type linkGraph struct {
	documents map[string]*linkTarget // by key
	anchors   map[string]*linkTarget // by key#anchor
	textUsed  map[string]bool        // documents whose anchor texts inbound has returned
}

// A linkTarget is a document or an anchor in it.
type linkTarget struct {
	count int
	last  string // last counted document
	text  []string
	bytes int
}

// add adds the links of a passage of the document from. The passages of a document must
// be added consecutively.
func (g *linkGraph) add(from string, links []passage.Link) {
	if g.documents == nil {
		*g = linkGraph{make(map[string]*linkTarget), make(map[string]*linkTarget), make(map[string]bool)}
	}
	for _, link := range links {
		to, anchor, _ := strings.Cut(link.To, "#")
		if to == "" || to == from {
			continue
		}
		addLink(g.documents, to, from, link.Text, anchor == "")
		if anchor != "" {
			addLink(g.anchors, link.To, from, link.Text, true)
		}
	}
}

func addLink(places map[string]*linkTarget, to, from, text string, keep bool) {
	at := places[to]
	if at == nil {
		at = &linkTarget{}
		places[to] = at
	}
	if at.last != from || at.count == 0 {
		at.last = from
		at.count++
	}
	text = strings.TrimSpace(text)
	if !keep || text == "" || len(text) > maxAnchorText || at.bytes+len(text) > maxTargetText {
		return
	}
	at.text = append(at.text, text)
	at.bytes += len(text)
}

// markTextUsed records a passage of the document for which inbound is not called.
func (g *linkGraph) markTextUsed(document string) {
	if g.documents[document] != nil {
		g.textUsed[document] = true
	}
}

// inbound returns the number of inbound links of the passage and of its document, and
// their anchor texts. The anchor texts of links to the whole document belong to its
// first passage.
func (g *linkGraph) inbound(p *passage.Passage) (inLinks, pageInLinks int, text string) {
	key := p.Document()
	if g.documents == nil || key == "" {
		return 0, 0, ""
	}
	var words []string
	if at := g.documents[key]; at != nil {
		pageInLinks = at.count
		if !g.textUsed[key] {
			g.textUsed[key] = true
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
