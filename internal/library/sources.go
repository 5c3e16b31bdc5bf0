package library

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/recipes"
)

// A ListedSource is a recipe of the book or a pack of a catalog, by whose name setup finds
// it.
type ListedSource struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Keywords  []string `json:"keywords"`
	Version   string   `json:"version,omitempty"`
	Source    string   `json:"source,omitempty"`
	Installed string   `json:"installed,omitempty"`
	License   string   `json:"license"`
	Size      int64    `json:"size,omitempty"`     // bytes, about; 0: unknown
	Verified  string   `json:"verified,omitempty"` // the date of a recipe's check, the publisher of a pack
	Catalog   string   `json:"catalog,omitempty"`  // of a pack
}

// ListSources returns the recipes and packs whose name, title or keywords contain a word, by
// name. It downloads catalogs that are older than a day.
func ListSources(ctx context.Context, c Dialog, word string) ([]ListedSource, error) {
	all, err := CurrentCatalogs(ctx, c)
	if err != nil {
		return nil, err
	}
	word = strings.ToLower(word)
	list := []ListedSource{}
	for _, name := range recipes.Names() {
		r, err := recipes.Find(name)
		if err != nil {
			return nil, err
		}
		if r, err = r.At(""); err != nil {
			return nil, err
		}
		if text := strings.Join(append([]string{name, r.Title}, r.Keywords...), "\n"); !strings.Contains(strings.ToLower(text), word) {
			continue
		}
		source := cmp.Or(r.Source.Download(), "installed: "+r.Source.Installed)
		list = append(list, ListedSource{name, r.Title, r.Keywords, r.Version, source, r.Source.Installed, r.License, r.Verified.Bytes, r.Verified.Date, ""})
	}
	for _, k := range all {
		if k.Err != nil {
			continue
		}
		for _, e := range k.Search(word) {
			list = append(list, ListedSource{e.Name, e.Title, e.Keywords, e.Version, "pack of " + k.Name, "", e.License, e.Size, pack.Key(e.Publisher).Name(), k.Name})
		}
	}
	slices.SortStableFunc(list, func(a, b ListedSource) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
