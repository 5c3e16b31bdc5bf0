package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Sizes of passages, in words. Sections are put together up to small, those
// above most are cut; in between, ranking hardly depends on size, and a short
// passage costs its reader less. A section below slight says too little to
// stand without what it introduces.
const (
	slight = 25
	small  = 120
	most   = 400
)

// maxText is the most bytes of a passage. Of words alone, whose length counts, it
// has fewer; what fills it is white space.
const maxText = 16 << 10

// Bounds of what leads from and to a passage. An index at a book's end has
// 14,000 links.
const (
	maxLinks   = 20_000
	maxAnchors = 1000
	maxBytes   = 2 << 20 // of either
)

// A note says what the cutting did that the user should know.
type note struct {
	place string // behind the file's name: ":12", "#anchor"
	text  string
}

// cut makes the passages of a document: all but ID, Title and Path.
func cut(doc document) ([]passage.Passage, []note) {
	c := &cutter{document: doc, sums: make([]size, len(doc.lines)+1), notes: doc.left}
	for i, l := range doc.lines {
		c.sums[i+1] = c.sums[i].plus(sizeOf(l))
	}
	var group []section
	var have size // of the group
	for _, s := range absorbBare(doc.sections) {
		more := c.size(s.first, s.last)
		if len(group) > 0 && belongs(group, have, s, more) {
			group, have = append(group, s), have.plus(more)
			continue
		}
		c.emit(group)
		group, have = []section{s}, more
	}
	c.emit(group)
	return c.passages, c.notes
}

type cutter struct {
	document
	sums     []size // up to each line
	passages []passage.Passage
	notes    []note
}

// A size is what a text takes of its reader and of an index.
type size struct{ words, bytes int }

// sizeOf is the size of a line.
func sizeOf(line string) size { return size{words(line), len(line) + 1} }

func (s size) plus(other size) size { return size{s.words + other.words, s.bytes + other.bytes} }

// fits reports whether a passage may have that size.
func (s size) fits() bool { return s.words <= most && s.bytes <= maxText }

// size is that of the lines first to last.
func (c *cutter) size(first, last int) size {
	to, from := c.sums[max(last, first-1)], c.sums[first-1]
	return size{to.words - from.words, to.bytes - from.bytes}
}

// words counts those on the lines first to last.
func (c *cutter) words(first, last int) int { return c.size(first, last).words }

// absorbBare gives headings with nothing under them to the section after, or
// at the document's end to the one before: alone they would be passages that
// say nothing.
func absorbBare(sections []section) []section {
	var kept []section
	first := 0 // line of the bare headings before the section
	var above section
	for _, s := range sections {
		if first == 0 {
			first, above = s.first, section{}
		}
		if len(s.blocks) == 0 {
			// Not join: there may be many, and above is nobody else's.
			above.anchors = append(above.anchors, s.anchors...)
			above.links = append(above.links, s.links...)
			above.terms = append(above.terms, s.terms...)
			continue
		}
		s.join(above)
		s.first = first
		kept, first = append(kept, s), 0
	}
	switch {
	case len(kept) == 0 && len(sections) > 0:
		// Nothing but headings.
		all := sections[len(sections)-1]
		all.first = sections[0].first
		all.blocks = []block{{first: all.first, last: all.last}}
		all.anchors, all.links, all.terms = above.anchors, above.links, above.terms
		return []section{all}
	case first != 0:
		before, last := &kept[len(kept)-1], sections[len(sections)-1].last
		before.blocks = append(before.blocks, block{first: first, last: last})
		before.last = last
		before.join(above)
	}
	return kept
}

// join adds what leads to the other section and what is said of it.
func (s *section) join(other section) {
	s.anchors = slices.Concat(s.anchors, other.anchors)
	s.links = slices.Concat(s.links, other.links)
	s.terms = slices.Concat(s.terms, other.terms)
}

// belongs reports whether a section of that size goes into one passage with the
// group before it, which has one, too: beneath the group's first section or
// beside it, and small as the group is; or the group is no more than an
// introduction to it.
func belongs(group []section, have size, s section, more size) bool {
	top := group[0].headings
	parent := top[:max(0, len(top)-1)]
	if len(s.headings) < len(top) || !slices.Equal(parent, s.headings[:len(parent)]) {
		return false
	}
	all := have.plus(more)
	beneath := slices.Equal(top, s.headings[:len(top)])
	return all.fits() && (all.words <= small || have.words < slight && beneath)
}

// emit makes passages of a group: one, or several of a section that is too
// long, which is alone in its group.
func (c *cutter) emit(group []section) {
	if len(group) == 0 {
		return
	}
	first, last := group[0].first, lastUsed(c.lines, group[0].first, group[len(group)-1].last)
	s := group[0]
	for _, other := range group[1:] {
		s.join(other)
	}
	s.headings = heading(group)
	if len(group) > 1 || c.size(first, last).fits() {
		c.add(s, first, last, strings.Join(c.lines[first-1:last], "\n"))
		return
	}
	if head := c.size(s.first, s.blocks[0].first-1); head.words > small || head.bytes > maxText/4 {
		// Headings without text, more than a passage can begin with.
		s.blocks = append([]block{{first: s.first, last: s.blocks[0].first - 1}}, s.blocks...)
	}
	pieces := c.pieces(s, s.blocks)
	if len(pieces) == 0 {
		return
	}
	pieces[0].first = s.first
	if pieces[0].text != "" {
		pieces[0].text = strings.Join(append(c.lines[s.first-1:s.blocks[0].first-1:s.blocks[0].first-1], pieces[0].text), "\n")
	}
	if end := len(pieces) - 1; pieces[end].text == "" {
		pieces[end].last = last
	}
	packed := c.pack(pieces)
	anchors := anchorsOf(s.anchors, packed)
	for i, p := range packed {
		part := s
		part.anchors = anchors[i]
		c.add(part, p.first, p.last, p.text)
		s.links = nil // the first part has them
	}
}

// anchorsOf are the anchors of each part of a section: those that lead into the
// part, and the section's own, which is nearest where there are no others.
func anchorsOf(all []anchor, parts []piece) [][]anchor {
	own := make([][]anchor, len(parts))
	for _, a := range all {
		i, _ := slices.BinarySearchFunc(parts, a.line, func(p piece, line int) int { return cmp.Compare(p.last, line) })
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
func (c *cutter) add(s section, first, last int, text string) {
	for first < last && strings.TrimSpace(c.lines[first-1]) == "" {
		first++
	}
	p := passage.Passage{
		Text:     strings.TrimRight(strings.TrimLeft(withoutDropped(text), "\n"), " \t\n"),
		Headings: s.headings,
	}
	anchors := c.limited(s, "anchors", len(s.anchors), maxAnchors, func(i int) int { return len(s.anchors[i].name) })
	for _, a := range s.anchors[:anchors] {
		// Sections that were put together may have the same: a page of a book.
		if n := len(p.Anchors); n == 0 || p.Anchors[n-1] != a.name {
			p.Anchors = append(p.Anchors, a.name)
		}
	}
	p.StartLine, p.EndLine = c.place(first), c.place(last)
	links := c.limited(s, "links", len(s.links), maxLinks, func(i int) int { return len(s.links[i].To) + len(s.links[i].Text) })
	p.SetLinks(s.links[:links])
	p.SetTerms(s.terms[:min(len(s.terms), maxPlaceTerms)])
	c.passages = append(c.passages, p)
}

// limited is how many of n things of a section a passage has; it may have no more
// than most, nor more than maxBytes of them. What is left out is noted.
func (c *cutter) limited(s section, what string, n, most int, sizeOf func(int) int) int {
	kept := 0
	for bytes := 0; kept < min(n, most) && bytes <= maxBytes; kept++ {
		bytes += sizeOf(kept)
	}
	if kept < n {
		c.notes = append(c.notes, note{c.noted(s, s.first), fmt.Sprintf("skipped %d %s after the first %d", n-kept, what, kept)})
	}
	return kept
}

// place is the file's line that one of the document's is or was made of; 0 if
// that is not known.
func (c *cutter) place(line int) int {
	switch {
	case len(c.from) > 0:
		return c.from[line-1]
	case !c.made:
		return line
	}
	return 0
}

// noted is where the section is, for a note.
func (c *cutter) noted(s section, line int) string {
	switch n := c.place(line); {
	case n > 0:
		return fmt.Sprintf(":%d", n)
	case len(s.anchors) > 0:
		return "#" + s.anchors[0].name
	}
	return ""
}

// heading is the heading path of a group: what its sections' paths have in
// common and, below that, their own headings side by side.
func heading(group []section) []string {
	common := group[0].headings
	for _, s := range group[1:] {
		n := 0
		for n < min(len(common), len(s.headings)) && common[n] == s.headings[n] {
			n++
		}
		common = common[:n]
	}
	var beside []string
	for _, s := range group {
		if len(s.headings) > len(common) && !slices.Contains(beside, s.headings[len(common)]) {
			beside = append(beside, s.headings[len(common)])
		}
	}
	if len(beside) == 0 {
		return common
	}
	return append(slices.Clone(common), shorten(strings.Join(beside, " / ")))
}

// A piece is what a passage of a long section is put together from. Its text
// is that of its lines, unless text says otherwise.
type piece struct {
	first, last int
	size
	text string
}

// pieces cuts the blocks that are too long, as little as may be.
func (c *cutter) pieces(s section, blocks []block) []piece {
	var pieces []piece
	for _, b := range blocks {
		switch n := c.size(b.first, b.last); {
		case n.fits():
			pieces = append(pieces, piece{first: b.first, last: b.last, size: n})
		case len(b.parts) > 0:
			pieces = append(pieces, c.pieces(s, b.parts)...)
		case b.kind == prose:
			pieces = append(pieces, c.cutLines(b, splitSentences)...)
		default:
			parts := c.cutLines(b, splitWords)
			what := map[kind]string{code: "block of code", markup: "block of HTML", table: "table"}[b.kind]
			if len(parts) > 1 {
				c.notes = append(c.notes, note{c.noted(s, b.first), fmt.Sprintf("a %s of %d words was split into %d passages", what, n.words, len(parts))})
			}
			pieces = append(pieces, parts...)
		}
	}
	return pieces
}

// cutLines cuts a block between its lines, and a line that is too long alone
// by split. Parts of a block of code or a table get the lines that make them
// one.
func (c *cutter) cutLines(b block, split func(string) []string) []piece {
	first, last := b.first, b.last
	if n := strings.Count(b.open, "\n") + 1; b.open != "" && c.words(first, first+n-1) < small && len(b.open) < maxText/8 {
		first += n
		if closes(c.lines[last-1], b.close) {
			last--
		}
	} else {
		b.open, b.close = "", ""
	}
	target := balanced(c.words(first, last))
	var pieces []piece
	var part []string
	from, sum := first, size{}
	flush := func(to int) {
		if sum.words > 0 {
			lines := slices.Concat(nonEmpty(b.open), trimBlank(part), nonEmpty(b.close))
			pieces = append(pieces, piece{first: from, last: to, size: sum, text: strings.Join(lines, "\n")})
		}
		part, from, sum = nil, to+1, size{}
	}
	for i := first; i <= last; i++ {
		line, n := c.lines[i-1], c.size(i, i)
		if all := sum.plus(n); all.words > target || all.bytes > maxText*3/4 {
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
	pieces[0].first = b.first
	pieces[len(pieces)-1].last = b.last
	return pieces
}

// closes reports whether the line closes what fence, another line, would.
func closes(line, fence string) bool {
	const marks = "> \t" // of what the block stands in
	line, fence = strings.TrimLeft(strings.TrimSpace(line), marks), strings.TrimLeft(fence, marks)
	return fence != "" && strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
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
func (c *cutter) pack(pieces []piece) []piece {
	total := 0
	for _, p := range pieces {
		total += p.words
	}
	target := balanced(total)
	var packed []piece
	for _, p := range pieces {
		if p.text == "" {
			p.text = strings.Join(c.lines[p.first-1:p.last], "\n")
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
	parts := max(1, (n+most-1)/most)
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
	target := balanced(words(line))
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
	var m measure
	for i, r := range s {
		if m.add(r); i > 0 && (m.words() > n || i > maxText/2) {
			return i
		}
	}
	return len(s)
}
