package quicksearch

import (
	"bytes"
	"slices"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Related finds the documents with the rarest words of a query. It does not read passages.
func (x *Index) Related(q Query) (lexical.Rare, error) {
	return x.lexical.SearchRare(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Keys: q.Keys,
		Version: x.gen.VersionOr(q.Version), Limit: q.Limit})
}

// Generation returns the name of the generation that the index reads.
func (x *Index) Generation() string { return x.gen.Manifest.Generation }

// Key returns the key of a document.
func (x *Index) Key(document uint32) (string, error) { return x.table.Key(document) }

// Documents returns the number of documents.
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

// Whole reads a document's passages until their texts have limit bytes.
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

// Contains reports whether the encoded line of a passage contains text verbatim.
func (x *Index) Contains(passage uint32, text string) (bool, error) {
	line, err := x.table.Line(passage)
	return err == nil && bytes.Contains(line, []byte(text)), err
}

// Mentions reports whether the first passage of a document may have metadata under one of
// the keys. It is faster than decoding the passage.
func (x *Index) Mentions(document uint32, keys ...string) (bool, error) {
	members, err := x.table.Members(document)
	if err != nil || len(members) == 0 {
		return false, err
	}
	line, err := x.table.Line(members[0])
	return slices.ContainsFunc(keys, func(key string) bool { return bytes.Contains(line, []byte(`"`+key+`"`)) }), err
}

// PageNames returns the names of programs, commands and modules that have a page; see
// lexical.Index.PageNames.
func (x *Index) PageNames() ([]string, error) { return x.lexical.PageNames() }

// Identifiers returns the names that passages define; see lexical.Index.Identifiers.
func (x *Index) Identifiers() ([]string, error) { return x.lexical.Identifiers() }
