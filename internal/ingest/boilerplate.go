package ingest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// What many documents say in the same words says nothing of any of them:
// notices, invitations to comment, lists of other pages. Such paragraphs are
// left out. Which they are is found out from a sample of the documents, by a
// build; updates go by what the build found, so that an update need not read
// everything again, and a full build may come to another result.
const (
	sampleSize = 100 // documents
	// manyShare and fewest are how large a part of the sample, and how many
	// documents of it, must have a paragraph.
	manyShare = 0.3
	fewest    = 8
	// fewestWords a paragraph must have: shorter ones are labels, which what
	// follows them needs.
	fewestWords  = 5
	mostRepeated = 100
	// maxSampled is how many bytes of the sample, before they are read, are kept
	// in the form in which they are wanted again soon.
	maxSampled = 16 << 20
)

// A repeated is the paragraphs that are left out, by their digests, and how each
// begins.
type repeated map[string]string

// A sample is a document of the sample.
type sample struct {
	hash string // of the bytes
	document.Document
}

// findRepeated finds the paragraphs that many of the items have. When ctx ends it
// does not wait for those that are being read.
func (c *collector) findRepeated(ctx context.Context, items []source.Item) error {
	if len(items) < fewest {
		return nil
	}
	var (
		mu    sync.Mutex
		read  int
		size  int
		count = map[string]int{}
		texts = repeated{}
		all   sync.WaitGroup
	)
	sampled := map[string]sample{}
	workers := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, it := range sampleOf(items) {
		all.Go(func() {
			workers <- struct{}{}
			defer func() { <-workers }()
			if ctx.Err() != nil {
				return
			}
			data, err := c.Load(&it)
			if err != nil {
				return
			}
			doc, err := c.document(ctx, data, &it)
			if err != nil {
				return
			}
			own := map[string]string{}
			for _, p := range paragraphsOf(&doc) {
				own[p.digest] = p.text
			}
			mu.Lock()
			defer mu.Unlock()
			read++
			if size += len(data); size <= maxSampled {
				sampled[it.Name] = sample{source.Hash(data), doc}
			}
			for d, text := range own {
				count[d]++
				texts[d] = text
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.sampled = sampled
	least := max(fewest, int(manyShare*float64(read)))
	found := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(d string) bool { return count[d] < least })
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	c.repeated = repeated{}
	for _, d := range found[:min(len(found), mostRepeated)] {
		c.repeated[d] = texts[d]
	}
	return nil
}

// sampleOf are the items that make up the sample: those whose names have the
// least hashes. So collections that have most documents in common, as a site and
// its pages on disk, or a build and the next, have most of the sample in common.
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
		keys[i] = keyed{h.Sum64() * 0x9e3779b97f4a7c15, i} // spread: FNV leaves names alike near one another
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	sample := make([]source.Item, sampleSize)
	for i := range sample {
		sample[i] = items[keys[i].at]
	}
	return sample
}

// A paragraph is lines of a document without a blank one between them, that are
// no code.
type paragraph struct {
	first, last int
	digest      string
	text        string // how it begins
}

// paragraphsOf are those of the document's paragraphs that are long enough to
// be left out.
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
				if first == 0 {
					first = line
				}
				continue
			}
			if first == 0 {
				continue
			}
			text := strings.Join(strings.Fields(strings.Join(doc.Lines[first-1:line-1], " ")), " ")
			if document.CountWords(text) >= fewestWords {
				all = append(all, paragraph{first, line - 1, source.Digest(text), beginning(text)})
			}
			first = 0
		}
	}
	return all
}

// codeLines tells of each line whether it is of a block of code.
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
	fence := ""
	for i := range doc.Sections {
		s := &doc.Sections[i]
		mark(s.Blocks)
		for n := s.First; n <= s.Last; n++ {
			line := strings.TrimLeft(doc.Lines[n-1], "> \t")
			switch {
			case fence != "":
				lines[n-1] = true
				if document.ClosesFence(line, fence) {
					fence = ""
				}
			case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
				lines[n-1] = true
				fence = document.ClosingFence(line)
			}
		}
	}
	return lines
}

// beginning is the first words of a text.
func beginning(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// drop takes the repeated paragraphs out of the document, and returns how many
// there were. A section of which nothing is left goes with its heading; but of a
// document of which nothing would be left, nothing goes.
func (many repeated) drop(doc *document.Document) int {
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
			p.last++ // else two blank lines would be left
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

// notes say what was left out of how many places.
func (many repeated) notes(where string, n int) []generation.Skipped {
	if n == 0 {
		return nil
	}
	notes := []generation.Skipped{{Name: where, Reason: fmt.Sprintf("skipped %d paragraphs that are identical in many documents", n)}}
	for _, d := range slices.SortedFunc(maps.Keys(many), func(a, b string) int { return cmp.Or(strings.Compare(many[a], many[b]), strings.Compare(a, b)) }) {
		notes = append(notes, generation.Skipped{Name: fmt.Sprintf("%q", many[d]), Reason: "identical in many documents"})
	}
	return notes
}
