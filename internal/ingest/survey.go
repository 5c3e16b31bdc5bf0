package ingest

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/source"
)

// survey finds what documents need of each other: the items that are parts of others, which
// include them and are no documents of their own, and the titles that items show in their
// references to others. Both become part of the items' contexts, so that a change in one
// document makes the passages of those that depend on it again.
func (c *collector) survey(ctx context.Context, items []source.Item) error {
	type result struct {
		name string
		source.Survey
	}
	c.surveys = map[string]source.Survey{}
	for r := range inParallel(ctx, items, func(it source.Item) result { return result{it.Name, c.surveyItem(&it)} }) {
		c.surveys[r.name] = r.Survey
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.findParts(items)
	titles := newTitles(items, c.surveys)
	for i := range items {
		it := &items[i]
		var shown []string
		for _, name := range c.surveys[it.Name].References {
			if title := titles.find(it.Name, name); title != "" {
				if it.Titles == nil {
					it.Titles = map[string]string{}
				}
				it.Titles[name] = title
				shown = append(shown, name, title)
			}
		}
		if len(shown) > 0 {
			it.Context = source.Digest(append(shown, it.Context)...)
		}
	}
	return nil
}

// surveyItem returns the survey of an item. That of an unchanged one is in its record.
func (c *collector) surveyItem(it *source.Item) source.Survey {
	if c.kept[it.Name] {
		was := c.last.find(it.Name)
		return source.Survey{Title: was.Title, Titles: was.Titles, References: was.References}
	}
	if !c.NeedsSurvey(it.Name) {
		return source.Survey{}
	}
	if was := c.unchanged(it); was != nil {
		return was.Survey
	}
	data, err := c.Load(it)
	if err != nil {
		return source.Survey{}
	}
	var s source.Survey
	withoutFault(func() error { s = c.Survey(data, it.Name); return nil })
	return s
}

// findParts finds the items that are parts of other documents.
func (c *collector) findParts(items []source.Item) {
	at := make(map[string]int, len(items))
	for i := range items {
		at[items[i].Name] = i
	}
	c.partOf = map[string]string{}
	for i := range items {
		name := items[i].Name
		if c.partOf[name] != "" {
			continue // of two files that include each other, one is a document
		}
		for _, part := range c.surveys[name].Parts {
			i, listed := at[part]
			if !listed || part == name || c.kept[part] || c.partOf[part] != "" {
				continue
			}
			c.partOf[part] = name
			items[i].Context = source.Digest("part of", name, items[i].Context)
		}
	}
}

// titles finds the titles of labels and documents.
type titles struct {
	labels    map[string][]labelTitle // by the name of a reference
	documents map[string]string       // by path without extension
}

type labelTitle struct{ document, title string }

func newTitles(items []source.Item, surveys map[string]source.Survey) titles {
	t := titles{map[string][]labelTitle{}, map[string]string{}}
	for i := range items {
		name := items[i].Name
		s := surveys[name]
		for k := 0; k+1 < len(s.Titles); k += 2 {
			t.labels[s.Titles[k]] = append(t.labels[s.Titles[k]], labelTitle{name, s.Titles[k+1]})
		}
		if stem := strings.TrimSuffix(name, path.Ext(name)); s.Title != "" && t.documents[stem] == "" {
			t.documents[stem] = s.Title
		}
	}
	return t
}

// find returns the title of a reference in a document. Of several labels of one name, as in
// several versions of a manual, it is the nearest. A path that begins with a slash begins in
// the folder of the manual: the outermost with an index, or else one around the document.
func (t *titles) find(document, name string) string {
	if target, ok := strings.CutPrefix(name, "doc "); ok {
		folder := path.Dir(document)
		if !strings.HasPrefix(target, "/") {
			return t.documents[path.Join(folder, target)]
		}
		nearest, inManual := "", ""
		for ; ; folder = path.Dir(folder) {
			if title := t.documents[path.Join(folder, target)]; title != "" {
				nearest = cmp.Or(nearest, title)
				if t.documents[path.Join(folder, "index")] != "" {
					inManual = title
				}
			}
			if folder == "." {
				return cmp.Or(inManual, nearest)
			}
		}
	}
	all := t.labels[name]
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b labelTitle) int {
		return sharedPath(a.document, document) - sharedPath(b.document, document)
	}).title
}

// sharedPath returns the number of bytes of the folders that two paths share.
func sharedPath(a, b string) int {
	n := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n = i
		}
	}
	return n
}
