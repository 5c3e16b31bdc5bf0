// Package chunk splits a document into passages. It knows documents and passages,
// and nothing of file formats and sources.
package chunk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// withoutDropped is a text of which lines were left out.
func withoutDropped(text string) string {
	if !strings.Contains(text, document.DroppedLine) {
		return text
	}
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n"+document.DroppedLine, ""), "\n")
}

// Sizes of passages, in words. Sections are put together up to small, those
// above MaxPassageWords are cut; in between, ranking hardly depends on size, and a short
// passage costs its reader less. A section below slight says too little to
// stand without what it introduces.
const (
	slight = 25
	small  = 120
)

// MaxTextBytes is the most bytes of a passage. Of words alone, whose length counts, it
// has fewer; what fills it is white space.
const MaxTextBytes = 16 << 10

// Bounds of what leads from and to a passage. An index at a book's end has
// 14,000 links.
const (
	maxLinks     = 20_000
	maxAnchors   = 1000
	maxListBytes = 2 << 20 // of either
)

// Split makes the passages of a document: all but ID, Title and Path.
func Split(doc document.Document) ([]passage.Passage, []document.Note) {
	c := &splitter{Document: doc, sums: make([]size, len(doc.Lines)+1), notes: doc.Notes}
	for i, l := range doc.Lines {
		c.sums[i+1] = c.sums[i].plus(sizeOf(l))
	}
	var group []document.Section
	var have size // of the group
	for _, s := range absorbBare(doc.Sections) {
		more := c.size(s.First, s.Last)
		if len(group) > 0 && belongs(group, have, s, more) {
			group, have = append(group, s), have.plus(more)
			continue
		}
		c.emit(group)
		group, have = []document.Section{s}, more
	}
	c.emit(group)
	return c.passages, c.notes
}

type splitter struct {
	document.Document
	sums     []size // up to each line
	passages []passage.Passage
	notes    []document.Note
}

// A size is what a text takes of its reader and of an index.
type size struct{ words, bytes int }

// sizeOf is the size of a line.
func sizeOf(line string) size { return size{document.CountWords(line), len(line) + 1} }

func (s size) plus(other size) size { return size{s.words + other.words, s.bytes + other.bytes} }

// fits reports whether a passage may have that size.
func (s size) fits() bool { return s.words <= document.MaxPassageWords && s.bytes <= MaxTextBytes }

// size is that of the lines first to last.
func (c *splitter) size(first, last int) size {
	to, from := c.sums[max(last, first-1)], c.sums[first-1]
	return size{to.words - from.words, to.bytes - from.bytes}
}

// words counts those on the lines first to last.
func (c *splitter) words(first, last int) int { return c.size(first, last).words }

// absorbBare gives headings with nothing under them to the section after, or
// at the document's end to the one before: alone they would be passages that
// say nothing.
func absorbBare(sections []document.Section) []document.Section {
	var kept []document.Section
	first := 0 // line of the bare headings before the section
	var above document.Section
	for _, s := range sections {
		if first == 0 {
			first, above = s.First, document.Section{}
		}
		if len(s.Blocks) == 0 {
			// Not join: there may be many, and above is nobody else's.
			above.Anchors = append(above.Anchors, s.Anchors...)
			above.Links = append(above.Links, s.Links...)
			above.Terms = append(above.Terms, s.Terms...)
			continue
		}
		join(&s, above)
		s.First = first
		kept, first = append(kept, s), 0
	}
	switch {
	case len(kept) == 0 && len(sections) > 0:
		// Nothing but headings.
		all := sections[len(sections)-1]
		all.First = sections[0].First
		all.Blocks = []document.Block{{First: all.First, Last: all.Last}}
		all.Anchors, all.Links, all.Terms = above.Anchors, above.Links, above.Terms
		return []document.Section{all}
	case first != 0:
		before, last := &kept[len(kept)-1], sections[len(sections)-1].Last
		before.Blocks = append(before.Blocks, document.Block{First: first, Last: last})
		before.Last = last
		join(before, above)
	}
	return kept
}

// join adds what leads to the other section and what is said of it.
func join(s *document.Section, other document.Section) {
	s.Anchors = slices.Concat(s.Anchors, other.Anchors)
	s.Links = slices.Concat(s.Links, other.Links)
	s.Terms = slices.Concat(s.Terms, other.Terms)
}

// belongs reports whether a section of that size goes into one passage with the
// group before it, which has one, too: beneath the group's first section or
// beside it, and small as the group is; or the group is no more than an
// introduction to it.
func belongs(group []document.Section, have size, s document.Section, more size) bool {
	top := group[0].Headings
	parent := top[:max(0, len(top)-1)]
	if len(s.Headings) < len(top) || !slices.Equal(parent, s.Headings[:len(parent)]) {
		return false
	}
	all := have.plus(more)
	beneath := slices.Equal(top, s.Headings[:len(top)])
	return all.fits() && (all.words <= small || have.words < slight && beneath)
}

// emit makes passages of a group: one, or several of a section that is too
// long, which is alone in its group.
func (c *splitter) emit(group []document.Section) {
	if len(group) == 0 {
		return
	}
	first, last := group[0].First, document.LastNonBlank(c.Lines, group[0].First, group[len(group)-1].Last)
	s := group[0]
	for _, other := range group[1:] {
		join(&s, other)
	}
	s.Headings = heading(group)
	if len(group) > 1 || c.size(first, last).fits() {
		c.add(s, first, last, strings.Join(c.Lines[first-1:last], "\n"))
		return
	}
	if head := c.size(s.First, s.Blocks[0].First-1); head.words > small || head.bytes > MaxTextBytes/4 {
		// Headings without text, more than a passage can begin with.
		s.Blocks = append([]document.Block{{First: s.First, Last: s.Blocks[0].First - 1}}, s.Blocks...)
	}
	pieces := c.pieces(s, s.Blocks)
	if len(pieces) == 0 {
		return
	}
	pieces[0].first = s.First
	if pieces[0].text != "" {
		pieces[0].text = strings.Join(append(c.Lines[s.First-1:s.Blocks[0].First-1:s.Blocks[0].First-1], pieces[0].text), "\n")
	}
	if end := len(pieces) - 1; pieces[end].text == "" {
		pieces[end].last = last
	}
	packed := c.pack(pieces)
	anchors := anchorsOf(s.Anchors, packed)
	for i, p := range packed {
		part := s
		part.Anchors = anchors[i]
		c.add(part, p.first, p.last, p.text)
		s.Links = nil // the first part has them
	}
}

// anchorsOf are the anchors of each part of a section: those that lead into the
// part, and the section's own, which is nearest where there are no others.
func anchorsOf(all []document.Anchor, parts []piece) [][]document.Anchor {
	own := make([][]document.Anchor, len(parts))
	for _, a := range all {
		i, _ := slices.BinarySearchFunc(parts, a.Line, func(p piece, line int) int { return cmp.Compare(p.last, line) })
		i = min(i, len(parts)-1)
		own[i] = append(own[i], a)
	}
	for i := range own {
		if i > 0 && len(all) > 0 && !slices.Contains(own[i], all[0]) {
			own[i] = append(own[i], all[0])
		}
	}
	return own
}

// add makes a passage of the section: of all of it or, from line first to last,
// of a part.
func (c *splitter) add(s document.Section, first, last int, text string) {
	for first < last && strings.TrimSpace(c.Lines[first-1]) == "" {
		first++
	}
	p := passage.Passage{
		Text:     strings.TrimRight(strings.TrimLeft(withoutDropped(text), "\n"), " \t\n"),
		Headings: s.Headings,
	}
	anchors := c.limited(s, "anchors", len(s.Anchors), maxAnchors, func(i int) int { return len(s.Anchors[i].Name) })
	for _, a := range s.Anchors[:anchors] {
		// Sections that were put together may have the same: a page of a book.
		if n := len(p.Anchors); n == 0 || p.Anchors[n-1] != a.Name {
			p.Anchors = append(p.Anchors, a.Name)
		}
	}
	p.StartLine, p.EndLine = c.place(first), c.place(last)
	links := c.limited(s, "links", len(s.Links), maxLinks, func(i int) int { return len(s.Links[i].To) + len(s.Links[i].Text) })
	p.SetLinks(s.Links[:links])
	p.SetTerms(s.Terms[:min(len(s.Terms), document.MaxPassageTerms)])
	c.passages = append(c.passages, p)
}

// limited is how many of n things of a section a passage has; it may have no more
// than most, nor more than maxListBytes of them. What is left out is noted.
func (c *splitter) limited(s document.Section, what string, n, most int, sizeOf func(int) int) int {
	kept := 0
	for bytes := 0; kept < min(n, most) && bytes <= maxListBytes; kept++ {
		bytes += sizeOf(kept)
	}
	if kept < n {
		c.notes = append(c.notes, document.Note{Place: c.noted(s, s.First), Text: fmt.Sprintf("skipped %d %s after the first %d", n-kept, what, kept)})
	}
	return kept
}

// place is the file's line that one of the document's is or was made of; 0 if
// that is not known.
func (c *splitter) place(line int) int {
	switch {
	case len(c.Origins) > 0:
		return c.Origins[line-1]
	case !c.Converted:
		return line
	}
	return 0
}

// noted is where the section is, for a note.
func (c *splitter) noted(s document.Section, line int) string {
	switch n := c.place(line); {
	case n > 0:
		return fmt.Sprintf(":%d", n)
	case len(s.Anchors) > 0:
		return "#" + s.Anchors[0].Name
	}
	return ""
}

// heading is the heading path of a group: what its sections' paths have in
// common and, below that, their own headings side by side.
func heading(group []document.Section) []string {
	common := group[0].Headings
	for _, s := range group[1:] {
		n := 0
		for n < min(len(common), len(s.Headings)) && common[n] == s.Headings[n] {
			n++
		}
		common = common[:n]
	}
	var beside []string
	for _, s := range group {
		if len(s.Headings) > len(common) && !slices.Contains(beside, s.Headings[len(common)]) {
			beside = append(beside, s.Headings[len(common)])
		}
	}
	if len(beside) == 0 {
		return common
	}
	return append(slices.Clone(common), document.Shorten(strings.Join(beside, " / ")))
}

// A piece is what a passage of a long section is put together from. Its text
// is that of its lines, unless text says otherwise.
type piece struct {
	first, last int
	size
	text string
}

// pieces cuts the blocks that are too long, as little as may be.
func (c *splitter) pieces(s document.Section, blocks []document.Block) []piece {
	var pieces []piece
	for _, b := range blocks {
		switch n := c.size(b.First, b.Last); {
		case n.fits():
			pieces = append(pieces, piece{first: b.First, last: b.Last, size: n})
		case len(b.Parts) > 0:
			pieces = append(pieces, c.pieces(s, b.Parts)...)
		case b.Kind == document.Prose:
			pieces = append(pieces, c.cutLines(b, splitSentences)...)
		default:
			parts := c.cutLines(b, splitWords)
			what := map[document.BlockKind]string{document.Code: "block of code", document.Markup: "block of HTML", document.Table: "table"}[b.Kind]
			if len(parts) > 1 {
				c.notes = append(c.notes, document.Note{Place: c.noted(s, b.First), Text: fmt.Sprintf("a %s of %d words was split into %d passages", what, n.words, len(parts))})
			}
			pieces = append(pieces, parts...)
		}
	}
	return pieces
}

// cutLines cuts a block between its lines, and a line that is too long alone
// by split. Parts of a block of code or a table get the lines that make them
// one.
func (c *splitter) cutLines(b document.Block, split func(string) []string) []piece {
	first, last := b.First, b.Last
	if n := strings.Count(b.Open, "\n") + 1; b.Open != "" && c.words(first, first+n-1) < small && len(b.Open) < MaxTextBytes/8 {
		first += n
		if document.ClosesFence(c.Lines[last-1], b.Close) {
			last--
		}
	} else {
		b.Open, b.Close = "", ""
	}
	target := balanced(c.words(first, last))
	var pieces []piece
	var part []string
	from, sum := first, size{}
	flush := func(to int) {
		if sum.words > 0 {
			lines := slices.Concat(nonEmpty(b.Open), trimBlank(part), nonEmpty(b.Close))
			pieces = append(pieces, piece{first: from, last: to, size: sum, text: strings.Join(lines, "\n")})
		}
		part, from, sum = nil, to+1, size{}
	}
	for i := first; i <= last; i++ {
		line, n := c.Lines[i-1], c.size(i, i)
		if all := sum.plus(n); all.words > target || all.bytes > MaxTextBytes*3/4 {
			flush(i - 1)
		}
		if !n.fits() {
			for _, s := range split(line) {
				part, from, sum = []string{s}, i, sizeOf(s)
				flush(i)
			}
			continue
		}
		part, sum = append(part, line), sum.plus(n)
		if strings.TrimSpace(line) == "" && sum.words >= target*3/4 {
			flush(i)
		}
	}
	flush(last)
	if len(pieces) == 0 {
		return nil // nothing but white space
	}
	pieces[0].first = b.First
	pieces[len(pieces)-1].last = b.Last
	return pieces
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func trimBlank(lines []string) []string {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// pack fills passages with pieces, evenly.
func (c *splitter) pack(pieces []piece) []piece {
	total := 0
	for _, p := range pieces {
		total += p.words
	}
	target := balanced(total)
	var packed []piece
	for _, p := range pieces {
		if p.text == "" {
			p.text = strings.Join(c.Lines[p.first-1:p.last], "\n")
		}
		if n := len(packed); n > 0 && packed[n-1].words < target && packed[n-1].plus(p.size).fits() {
			q := &packed[n-1]
			q.text += between(q.last, p.first) + p.text
			q.last, q.size = p.last, q.plus(p.size)
			continue
		}
		packed = append(packed, p)
	}
	return packed
}

// between is what parts two pieces, one of which ends on a line and the other
// begins on one.
func between(last, first int) string {
	switch {
	case first == last:
		return " "
	case first > last+1:
		return "\n\n"
	}
	return "\n"
}

// balanced is the size that makes parts of n words about equal.
func balanced(n int) int {
	parts := max(1, (n+document.MaxPassageWords-1)/document.MaxPassageWords)
	return (n + parts - 1) / parts
}

// splitSentences cuts a line that is too long behind sentences.
func splitSentences(line string) []string {
	return splitAfter(line, func(s string) int {
		best := -1
		for _, end := range []string{". ", "! ", "? ", "; ", "。", "！", "？"} {
			if i := strings.LastIndex(s, end); i >= len(s)/4 {
				best = max(best, i+len(end))
			}
		}
		return best
	})
}

// splitWords cuts a line that is too long between words.
func splitWords(line string) []string {
	return splitAfter(line, func(string) int { return -1 })
}

// splitAfter cuts a line into about equal parts: where end says, else at white
// space, else anywhere between characters.
func splitAfter(line string, end func(string) int) []string {
	target := balanced(document.CountWords(line))
	var parts []string
	for {
		n := prefix(line, target)
		if n == len(line) {
			return append(parts, strings.TrimSpace(line))
		}
		cut := end(line[:n])
		if cut <= 0 {
			cut = strings.LastIndexAny(line[:n], " \t") + 1
		}
		if cut <= 0 {
			cut = n
		}
		parts, line = append(parts, strings.TrimSpace(line[:cut])), line[cut:]
	}
}

// prefix is the length of the longest beginning of s that counts as at most n
// words and may be a part of a passage, and of one sign at least.
func prefix(s string, n int) int {
	var m document.WordCounter
	for i, r := range s {
		if m.Add(r); i > 0 && (m.Words() > n || i > MaxTextBytes/2) {
			return i
		}
	}
	return len(s)
}
