package ingest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// Unreadable is not deleted: the documents of a folder without permission, of a disk that
// is not mounted or that fails, keep their passages of the previous generation until the
// source shows again whether it still has them. A build keeps them too, whatever version of
// docsearch made the previous generation.

// isUnreadable reports whether a reason to skip a file or folder is a read error.
func isUnreadable(reason string) bool { return strings.HasPrefix(reason, generation.Unreadable) }

// keep returns the items and those documents of the current generation that the source
// does not list, but may still have: those below folders that cannot be read and, with
// keepLost, all if the source seems to have lost most of them. It adds their number to the
// skipped folders. Documents that the source skips for another reason are not kept.
func (c *collector) keep(origin generation.Source, items []source.Item,
	skipped []generation.Skipped) ([]source.Item, []generation.Skipped) {
	at, reasons := make(map[string]int, len(items)), make(map[string]int, len(skipped))
	for i := range items {
		at[items[i].Name] = i
	}
	skipped = slices.Clone(skipped)
	for i, s := range skipped {
		reasons[s.Name] = i
	}
	var lost []string
	c.kept = map[string]bool{}
	below, documents := map[int]int{}, 0 // documents kept for each skipped folder; all documents
	for i := range c.last.records {
		r := &c.last.records[i]
		if r.Passages == 0 {
			continue
		}
		documents++
		if _, listed := at[r.Name]; listed {
			continue
		}
		if i, found := coveredBy(reasons, r.Name); !found {
			lost = append(lost, r.Name)
		} else if isUnreadable(skipped[i].Reason) {
			c.kept[r.Name] = true
			below[i]++
		}
	}
	for i, n := range below {
		skipped[i].Reason += fmt.Sprintf("; kept the previous version of its documents: %d", n)
		c.changes.Unreadable += n
	}
	fresh := 0
	for i := range items {
		if c.last.find(items[i].Name) == nil {
			fresh++
		}
	}
	if c.keepLost && generation.HasLost(len(lost), fresh, documents) {
		for _, name := range lost {
			c.kept[name] = true
		}
		c.changes.Lost = len(lost)
		skipped = append(skipped, generation.Skipped{Name: origin.Location,
			Reason: fmt.Sprintf("kept the previous version of %d of %d documents: the source no longer has them",
				len(lost), documents)})
	}
	return c.withKept(items, at), skipped
}

// coveredBy returns the entry of a file, or of the folder around it, among skipped ones.
func coveredBy(skipped map[string]int, name string) (i int, found bool) {
	if i, found = skipped[name]; found {
		return i, true
	}
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if i, found = skipped[dir+"/"]; found {
			return i, true
		}
	}
	return 0, false
}

// withKept returns the items with the kept documents, each behind the one that it followed
// in the current generation. at has the index of each item.
func (c *collector) withKept(items []source.Item, at map[string]int) []source.Item {
	if len(c.kept) == 0 {
		return items
	}
	// Users who cannot read a document must not read its passages. Who can read those of
	// the current generation?
	perm := generation.OwnerPerm
	if c.changes.Unreadable == 0 {
		if st, err := c.last.lines.Stat(); err == nil {
			perm |= st.Mode().Perm()
		}
	}
	behind, last := map[int][]source.Item{}, -1
	for i := range c.last.records {
		r := &c.last.records[i]
		if c.kept[r.Name] {
			behind[last] = append(behind[last],
				source.Item{Name: r.Name, Size: r.Size, ModTime: r.ModTime, Hash: r.Hash, Context: r.Context,
					Perm: perm})
		} else if k, listed := at[r.Name]; listed {
			last = k
		}
	}
	all := slices.Clone(behind[-1])
	for i := range items {
		all = append(append(all, items[i]), behind[i]...)
	}
	return all
}

// keptResult returns a result with the passages of the current generation for a document
// that is not read.
func (c *collector) keptResult(was *record) result {
	r := result{record: *was}
	r.lines, r.err = c.last.linesOf(was)
	if c.before == nil {
		r.Hash = "" // what its passages depend on has changed, so it is read as soon as it can be
	}
	return r
}

// linesOf returns the lines of a document.
func (e *previous) linesOf(r *record) ([]byte, error) {
	lines := make([]byte, r.Length)
	if _, err := e.lines.ReadAt(lines, r.Offset); err != nil {
		return nil, fmt.Errorf("cannot read the passages of %s: %w", e.lines.Name(), err)
	}
	return lines, nil
}
