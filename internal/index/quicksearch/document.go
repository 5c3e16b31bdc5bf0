package quicksearch

import (
	"bytes"
	"slices"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Related finds the documents that have the rarest words of a query. It reads no
// passage.
func (x *Index) Related(q Query) (lexical.Rare, error) {
	return x.lexical.SearchRare(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Keys: q.Keys, Version: x.gen.VersionOr(q.Version), Limit: q.Limit})
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

// Contains reports whether the line of a passage contains a text as it is.
func (x *Index) Contains(passage uint32, text string) (bool, error) {
	line, err := x.table.Line(passage)
	return err == nil && bytes.Contains(line, []byte(text)), err
}

// Mentions reports whether the first passage of a document may have metadata
// under one of the keys. It is quicker than to decode it.
func (x *Index) Mentions(document uint32, keys ...string) (bool, error) {
	members, err := x.table.Members(document)
	if err != nil || len(members) == 0 {
		return false, err
	}
	line, err := x.table.Line(members[0])
	return slices.ContainsFunc(keys, func(key string) bool { return bytes.Contains(line, []byte(`"`+key+`"`)) }), err
}

// PageNames returns the names of the programs, commands and modules that have a
// page, see lexical.Index.PageNames.
func (x *Index) PageNames() ([]string, error) { return x.lexical.PageNames() }
