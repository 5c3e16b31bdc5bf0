package answer

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A Document is one that has something to do with a query.
type Document struct {
	Number  uint32
	Passage uint32  // its best
	Rarity  float64 // of the query's words in its best passage, see lexical.Hit
}

// related is how many passages are ranked to find documents, of which each has
// two at most.
const related = 32

// Related finds the documents that a query's rarest words are in, the most
// telling first. No passage is read for it.
func (x *Index) Related(q Query) ([]Document, error) {
	hits, _, err := x.lexical.Search(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Limit: related})
	if err != nil {
		return nil, err
	}
	var documents []Document
	for _, h := range hits {
		i := slices.IndexFunc(documents, func(d Document) bool { return d.Number == h.Document })
		switch {
		case i < 0:
			documents = append(documents, Document{h.Document, h.Passage, h.Rarity})
		case h.Rarity > documents[i].Rarity:
			documents[i].Passage, documents[i].Rarity = h.Passage, h.Rarity
		}
	}
	slices.SortStableFunc(documents, func(a, b Document) int { return cmp.Compare(b.Rarity, a.Rarity) })
	return documents[:min(len(documents), q.Limit)], nil
}

// Key is the key of a document.
func (x *Index) Key(document uint32) (string, error) { return x.table.Key(document) }

// Documents is how many documents the database has.
func (x *Index) Documents() int { return x.table.Documents() }

// Passage reads one passage.
func (x *Index) Passage(n uint32) (passage.Passage, error) { return x.table.Passage(n) }

// First reads the first passage of a document.
func (x *Index) First(document uint32) (passage.Passage, error) {
	members, err := x.table.Members(document)
	if err != nil || len(members) == 0 {
		return passage.Passage{}, err
	}
	return x.table.Passage(members[0])
}

// Whole reads a document's passages, as far as they have limit bytes.
func (x *Index) Whole(document uint32, limit int) ([]passage.Passage, error) {
	members, err := x.table.Members(document)
	if err != nil {
		return nil, err
	}
	var passages []passage.Passage
	for _, n := range members {
		p, err := x.table.Passage(n)
		if err != nil {
			return nil, err
		}
		passages = append(passages, p)
		if limit -= len(p.Text); limit <= 0 {
			break
		}
	}
	return passages, nil
}

// Pinned reports whether a document may be pinned, without decoding it.
func (x *Index) Pinned(document uint32) (bool, error) {
	members, err := x.table.Members(document)
	if err != nil || len(members) == 0 {
		return false, err
	}
	line, err := x.table.Line(members[0])
	return bytes.Contains(line, []byte(`"pinned"`)), err
}
