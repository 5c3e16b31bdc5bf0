package index

import (
	"encoding/json"
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
)

func TestLinkGraph(t *testing.T) {
	page := func(path, links string, anchors ...string) *passage.Passage {
		return &passage.Passage{Path: path, Anchors: anchors, Extra: map[string]json.RawMessage{"links": json.RawMessage(links)}}
	}
	a := page("a", `[{"to": "b", "text": "the b page"}, {"to": "b", "text": "again"}, {"to": "b#x", "text": "x of b"}, {"to": "a#self", "text": "me"}]`, "self")
	a2 := page("a", `[{"to": "b#x", "text": "x once more"}]`)
	c := page("c", `[{"to": "b#x"}, {"to": "elsewhere"}]`)
	broken := page("d", `{"to": "b"}`)
	b1, b2 := page("b", `[]`, "top"), page("b", `null`, "x", "y")

	var g linkGraph
	for _, p := range []*passage.Passage{a, a2, c, broken, b1, b2} {
		g.add(p.Document(), p.Links())
	}
	for _, tt := range []struct {
		name           string
		p              *passage.Passage
		inLinks, pages int
		text           string
	}{
		{"a links to itself only", a, 0, 0, ""},
		{"first passage of b", b1, 0, 2, "the b page\nagain"},
		{"anchor of b", b2, 2, 2, "x of b\nx once more"},
		{"no document", &passage.Passage{ID: "i"}, 0, 0, ""},
	} {
		inLinks, pages, text := g.inbound(tt.p)
		if inLinks != tt.inLinks || pages != tt.pages || text != tt.text {
			t.Errorf("%s: %d links, %d to its page, %q; want %d, %d, %q", tt.name, inLinks, pages, text, tt.inLinks, tt.pages, tt.text)
		}
	}
}
