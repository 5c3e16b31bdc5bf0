package ingest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// Paragraphs that occur in many documents describe none of them: notices,
// invitations to comment, lists of other pages. They are removed. A full build
// finds them in a sample of the documents. Updates reuse the result of the full
// build, so that they need not read everything again; a later full build may
// find others.
const (
	sampleSize = 100 // documents
	// A paragraph is boilerplate if at least minDocuments documents and a share
	// of minShare of the sample have it.
	minShare     = 0.3
	minDocuments = 8
	// Shorter paragraphs are labels, which the following text needs.
	minWords       = 5
	maxBoilerplate = 100
	maxBeginning   = 60 // bytes of a paragraph's beginning
	// maxSampled is how many bytes of the sample are kept in parsed form for
	// reuse. The size is that of the source bytes.
	maxSampled = 16 << 20
)

// boilerplate holds the paragraphs to remove: their beginnings by digest.
type boilerplate map[string]string

// A sample is a parsed document of the sample.
type sample struct {
	hash string // of the source bytes
	document.Document
}

// findBoilerplate finds the paragraphs that many of the items share. If ctx is
// canceled, it does not wait for running parsers.
func (c *collector) findBoilerplate(ctx context.Context, items []source.Item) error {
	if len(items) < minDocuments {
		return nil
	}
	type parsed struct {
		sample
		name       string
		size       int
		paragraphs map[string]string // their beginnings by digest
	}
	read, size := 0, 0
	count, texts, sampled := map[string]int{}, boilerplate{}, map[string]sample{}
	for p := range inParallel(ctx, sampleOf(items), func(it source.Item) *parsed {
		data, err := c.Load(&it)
		if err != nil {
			return nil
		}
		doc, err := c.document(ctx, data, &it)
		if err != nil {
			return nil
		}
		paragraphs := map[string]string{}
		for _, p := range paragraphsOf(&doc) {
			paragraphs[p.digest] = p.text
		}
		return &parsed{sample{source.Hash(data), doc}, it.Name, len(data), paragraphs}
	}) {
		if p == nil {
			continue
		}
		read++
		if size += p.size; size <= maxSampled {
			sampled[p.name] = p.sample
		}
		for d, text := range p.paragraphs {
			count[d]++
			texts[d] = text
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.sampled = sampled
	least := max(minDocuments, int(minShare*float64(read)))
	found := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(d string) bool { return count[d] < least })
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	c.boilerplate = boilerplate{}
	for _, d := range found[:min(len(found), maxBoilerplate)] {
		c.boilerplate[d] = texts[d]
	}
	return nil
}

// sampleOf chooses the items with the smallest name hashes. Collections that
// share most documents, such as a site and a local copy or two successive
// builds, therefore share most of the sample.
func sampleOf(items []source.Item) []source.Item {
	if len(items) <= sampleSize {
		return items
	}
	type keyed struct {
		key uint64
		at  int
	}
	keys := make([]keyed, len(items))
	for i, it := range items {
		name := it.Name
		if _, rest, ok := strings.Cut(name, "://"); ok {
			_, name, _ = strings.Cut(rest, "/")
		}
		folder, name := path.Split(name)
		h := fnv.New64a()
		io.WriteString(h, path.Base(folder)+"/"+name)
		keys[i] = keyed{h.Sum64() * 0x9e3779b97f4a7c15, i} // mix: FNV maps similar names to similar hashes
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	sample := make([]source.Item, sampleSize)
	for i := range sample {
		sample[i] = items[keys[i].at]
	}
	return sample
}

// A paragraph is a run of nonblank lines outside of code.
type paragraph struct {
	first, last int
	digest      string
	text        string // its beginning
}

// paragraphsOf returns the paragraphs that are long enough to be boilerplate.
func paragraphsOf(doc *document.Document) []paragraph {
	code := codeLines(doc)
	var all []paragraph
	for i := range doc.Sections {
		s := &doc.Sections[i]
		if len(s.Blocks) == 0 {
			continue
		}
		first := 0
		for line := s.Blocks[0].First; line <= s.Last+1; line++ {
			if line <= s.Last && !code[line-1] && strings.TrimSpace(doc.Lines[line-1]) != "" {
				first = cmp.Or(first, line)
				continue
			}
			if first == 0 {
				continue
			}
			text := strings.Join(strings.Fields(strings.Join(doc.Lines[first-1:line-1], " ")), " ")
			if document.CountWords(text) >= minWords {
				all = append(all, paragraph{first, line - 1, source.Digest(text), document.Truncate(text, maxBeginning)})
			}
			first = 0
		}
	}
	return all
}

// codeLines reports for each line whether it belongs to a code block.
func codeLines(doc *document.Document) []bool {
	lines := make([]bool, len(doc.Lines))
	var mark func(blocks []document.Block)
	mark = func(blocks []document.Block) {
		for _, b := range blocks {
			for i := b.First; b.Kind == document.Code && i <= b.Last; i++ {
				lines[i-1] = true
			}
			mark(b.Parts)
		}
	}
	var fence document.Fence
	for i := range doc.Sections {
		s := &doc.Sections[i]
		mark(s.Blocks)
		for n := s.First; n <= s.Last; n++ {
			line := strings.TrimLeft(doc.Lines[n-1], "> \t")
			lines[n-1] = fence.Next(line) || lines[n-1]
		}
	}
	return lines
}

// removeFrom removes boilerplate from the document and returns the number of
// removed paragraphs. A section that becomes empty goes with its heading. If
// the whole document would become empty, nothing is removed.
func (many boilerplate) removeFrom(doc *document.Document) int {
	if len(many) == 0 {
		return 0
	}
	n := 0
	lines := slices.Clone(doc.Lines)
	for _, p := range paragraphsOf(doc) {
		if _, found := many[p.digest]; !found {
			continue
		}
		n++
		if p.last < len(lines) && strings.TrimSpace(lines[p.last]) == "" {
			p.last++ // remove one of the two adjacent blank lines too
		}
		for i := p.first; i <= p.last; i++ {
			lines[i-1] = document.DroppedLine
		}
	}
	if n == 0 {
		return 0
	}
	empty := func(first, last int) bool {
		return !slices.ContainsFunc(lines[first-1:last], func(l string) bool { return strings.TrimSpace(l) != "" })
	}
	sections := slices.DeleteFunc(slices.Clone(doc.Sections), func(s document.Section) bool {
		return len(s.Blocks) > 0 && empty(s.Blocks[0].First, s.Last)
	})
	if !slices.ContainsFunc(sections, func(s document.Section) bool { return len(s.Blocks) > 0 }) {
		return 0
	}
	var remaining func(blocks []document.Block) []document.Block
	remaining = func(blocks []document.Block) []document.Block {
		blocks = slices.DeleteFunc(blocks, func(b document.Block) bool { return empty(b.First, b.Last) })
		for i := range blocks {
			blocks[i].Parts = remaining(blocks[i].Parts)
		}
		return blocks
	}
	for i := range sections {
		sections[i].Blocks = remaining(sections[i].Blocks)
	}
	doc.Lines, doc.Sections = lines, sections
	return n
}

// notes reports the removed paragraphs.
func (many boilerplate) notes(where string, n int) []generation.Skipped {
	if n == 0 {
		return nil
	}
	notes := []generation.Skipped{{Name: where, Reason: fmt.Sprintf("skipped %d paragraphs that are identical in many documents", n)}}
	for _, d := range slices.SortedFunc(maps.Keys(many), func(a, b string) int { return cmp.Or(strings.Compare(many[a], many[b]), strings.Compare(a, b)) }) {
		notes = append(notes, generation.Skipped{Name: fmt.Sprintf("%q", many[d]), Reason: "identical in many documents"})
	}
	return notes
}
