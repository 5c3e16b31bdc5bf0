package ingest

import (
	"context"

	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/include"
)

// findParts finds the items that are parts of other documents, which include them. They are
// no documents of their own.
func (c *collector) findParts(ctx context.Context, items []source.Item) error {
	at := make(map[string]int, len(items))
	var including []source.Item
	for i := range items {
		at[items[i].Name] = i
		if include.Reads(items[i].Name) {
			including = append(including, items[i])
		}
	}
	type result struct {
		name  string
		parts []string
	}
	c.partOf = map[string]string{}
	for r := range inParallel(ctx, including, func(it source.Item) result { return result{it.Name, c.parts(&it)} }) {
		if c.partOf[r.name] != "" {
			continue // of two files that include each other, one is a document
		}
		for _, part := range r.parts {
			i, listed := at[part]
			if !listed || part == r.name || c.kept[part] || c.partOf[part] != "" {
				continue
			}
			c.partOf[part] = r.name
			items[i].Context = source.Digest("part of", r.name, items[i].Context)
		}
	}
	return ctx.Err()
}

// parts returns the files that are parts of an item.
func (c *collector) parts(it *source.Item) []string {
	if c.kept[it.Name] {
		return nil
	}
	if was := c.known(it); was != nil {
		return was.Parts
	}
	data, err := c.Load(it)
	if err != nil {
		return nil
	}
	var parts []string
	withoutFault(func() error { parts = c.Parts(data, it.Name); return nil })
	return parts
}
