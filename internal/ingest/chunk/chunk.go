// Package chunk splits a document into passages. It knows documents and passages,
// and nothing of file formats and sources.
package chunk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// trim removes the lines that are DroppedLine, the blank lines at the beginning, and white
// space at the end.
func trim(text string) string {
	if strings.Contains(text, document.DroppedLine) {
		lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return l == document.DroppedLine })
		text = strings.Join(lines, "\n")
	}
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || !document.IsBlank(line) {
			return text
		}
		text = rest
	}
}

// Sizes of passages, in words. Sections are merged up to maxMerged and split
// above MaxPassageWords. In between, ranking hardly depends on size, and short
// passages cost the reader less. A section below minStandalone is too short to
// stand without the section that it introduces.
const (
	minStandalone = 25
	maxMerged     = 120
)

// MaxTextBytes is the maximum size of a passage. Words alone never reach it,
// because long words count more; white space does.
const MaxTextBytes = 16 << 10

// Limits for the links and anchors of a passage. The index of a book can have
// 14,000 links.
const (
	maxLinks     = 20_000
	maxAnchors   = 1000
	maxListBytes = 2 << 20 // for links and anchors each
)

// Split splits a document into passages. They have no ID, Title or Path yet.
func Split(doc document.Document) ([]passage.Passage, []document.Note) {
	c := &splitter{Document: doc, sums: make([]size, len(doc.Lines)+1), notes: doc.Notes}
	for i, l := range doc.Lines {
		c.sums[i+1] = c.sums[i].plus(sizeOf(l))
	}
	var group []document.Section
	var have size // of the group
	for _, s := range c.mergeBareHeadings() {
		more := c.size(s.First, s.Last)
		if len(group) > 0 && canMerge(group, have, s, more) {
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
	sums     []size // cumulative, by line
	passages []passage.Passage
	notes    []document.Note
}

// A size is the length of a text in words and bytes.
type size struct{ words, bytes int }

// sizeOf returns the size of a line.
func sizeOf(line string) size { return size{document.CountWords(line), len(line) + 1} }

func (s size) plus(other size) size { return size{s.words + other.words, s.bytes + other.bytes} }

// fits reports whether a passage may have that size.
func (s size) fits() bool { return s.words <= document.MaxPassageWords && s.bytes <= MaxTextBytes }

// size returns the size of the lines first to last.
func (c *splitter) size(first, last int) size {
	to, from := c.sums[max(last, first-1)], c.sums[first-1]
	return size{to.words - from.words, to.bytes - from.bytes}
}

// words returns the words on the lines first to last.
func (c *splitter) words(first, last int) int { return c.size(first, last).words }

// withText returns the blocks that have text. To a parser, a paragraph of no-break spaces
// is text, too.
func (c *splitter) withText(blocks []document.Block) []document.Block {
	blank := func(b document.Block) bool { return c.words(b.First, b.Last) == 0 }
	if !slices.ContainsFunc(blocks, blank) {
		return blocks
	}
	return slices.DeleteFunc(slices.Clone(blocks), blank)
}

// mergeBareHeadings merges headings without text into the next section, or at
// the end of the document into the previous one. Alone, they would become
// passages without content.
func (c *splitter) mergeBareHeadings() []document.Section {
	sections := c.Sections
	var kept []document.Section
	first := 0 // line of the first bare heading above the section
	var above document.Section
	for _, s := range sections {
		if first == 0 {
			first, above = s.First, document.Section{}
		}
		if s.Blocks = c.withText(s.Blocks); len(s.Blocks) == 0 {
			// Append in place instead of join: there may be many sections, and
			// nothing else refers to above.
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
		// All sections are bare headings.
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

// join adds the anchors, links and terms of the other section.
func join(s *document.Section, other document.Section) {
	s.Anchors = slices.Concat(s.Anchors, other.Anchors)
	s.Links = slices.Concat(s.Links, other.Links)
	s.Terms = slices.Concat(s.Terms, other.Terms)
}

// canMerge reports whether a section fits into one passage with the preceding
// group. The section must be below the group's first section or its sibling,
// and both together small, or the group must be only an introduction to it. An entry
// of a reference shares a passage only with its introduction and its subsections.
func canMerge(group []document.Section, have size, s document.Section, more size) bool {
	top := group[0].Headings
	parent := top[:max(0, len(top)-1)]
	if len(s.Headings) < len(top) || !slices.Equal(parent, s.Headings[:len(parent)]) {
		return false
	}
	all := have.plus(more)
	beneath := slices.Equal(top, s.Headings[:len(top)])
	isEntry := func(g document.Section) bool { return g.Entry && len(s.Headings) <= len(g.Headings) }
	if s.Entry && !beneath || slices.ContainsFunc(group, isEntry) {
		return false
	}
	return all.fits() && (all.words <= maxMerged || have.words < minStandalone && beneath)
}

// emit makes one passage of a group, or several of an oversized section, which
// is alone in its group.
func (c *splitter) emit(group []document.Section) {
	if len(group) == 0 {
		return
	}
	first, last := group[0].First, document.LastNonBlank(c.Lines, group[0].First, group[len(group)-1].Last)
	s := group[0]
	for _, other := range group[1:] {
		join(&s, other)
	}
	s.Headings = mergedHeadings(group)
	if len(group) > 1 || c.size(first, last).fits() {
		c.add(s, first, last, strings.Join(c.Lines[first-1:last], "\n"))
		return
	}
	if head := c.size(s.First, s.Blocks[0].First-1); head.words > maxMerged || head.bytes > MaxTextBytes/4 {
		// The headings alone are too long for the beginning of a passage.
		s.Blocks = append([]document.Block{{First: s.First, Last: s.Blocks[0].First - 1}}, s.Blocks...)
	}
	pieces := c.pieces(s, s.Blocks)
	if len(pieces) == 0 {
		return
	}
	pieces[0].first = s.First
	if pieces[0].text != "" {
		head := trimBlank(c.Lines[s.First-1 : s.Blocks[0].First-1])
		pieces[0].text = strings.Join(append(slices.Clip(head), pieces[0].text), "\n")
	}
	if end := len(pieces) - 1; pieces[end].text == "" {
		pieces[end].last = last
	}
	packed := c.pack(pieces)
	anchors := assignAnchors(s.Anchors, packed)
	for i, p := range packed {
		part := s
		part.Anchors, part.Headings = anchors[i], slices.Concat(s.Headings, p.within)
		c.add(part, p.first, p.last, p.text)
		s.Links = nil // only the first part has them
	}
}

// assignAnchors distributes anchors over the parts of a section: to each part
// the anchors within it, and the section's own anchor as the fallback.
func assignAnchors(all []document.Anchor, parts []piece) [][]document.Anchor {
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

// add makes a passage of a section or, from line first to last, of a part.
func (c *splitter) add(s document.Section, first, last int, text string) {
	if text = trim(text); text == "" {
		return
	}
	for first < last && document.IsBlank(c.Lines[first-1]) {
		first++
	}
	p := passage.Passage{Text: text, Headings: s.Headings}
	anchors := c.kind(s, "anchors", len(s.Anchors), maxAnchors, func(i int) int { return len(s.Anchors[i].Name) })
	for _, a := range s.Anchors[:anchors] {
		// Merged sections may have the same anchor, such as the page of a book.
		if n := len(p.Anchors); n == 0 || p.Anchors[n-1] != a.Name {
			p.Anchors = append(p.Anchors, a.Name)
		}
	}
	p.StartLine, p.EndLine = c.sourceLine(first), c.sourceLine(last)
	links := c.kind(s, "links", len(s.Links), maxLinks,
		func(i int) int { return len(s.Links[i].To) + len(s.Links[i].Text) })
	p.SetLinks(s.Links[:links])
	p.SetTerms(s.Terms[:min(len(s.Terms), document.MaxPassageTerms)])
	c.passages = append(c.passages, p)
}

// kind returns how many of n links or anchors of a section to keep: at
// most limit, with at most maxListBytes. It adds a note if some are skipped.
func (c *splitter) kind(s document.Section, what string, n, most int, sizeOf func(int) int) int {
	kept := 0
	for bytes := 0; kept < min(n, most) && bytes <= maxListBytes; kept++ {
		bytes += sizeOf(kept)
	}
	if kept < n {
		c.notes = append(c.notes, document.Note{Place: c.noteLocation(s, s.First),
			Text: fmt.Sprintf("skipped %d %s after the first %d", n-kept, what, kept)})
	}
	return kept
}

// sourceLine returns the source line of a line; 0 if unknown.
func (c *splitter) sourceLine(line int) int {
	switch {
	case len(c.Origins) > 0:
		return c.Origins[line-1]
	case !c.Converted:
		return line
	}
	return 0
}

// noteLocation returns the location of a section for a note.
func (c *splitter) noteLocation(s document.Section, line int) string {
	switch n := c.sourceLine(line); {
	case n > 0:
		return fmt.Sprintf(":%d", n)
	case len(s.Anchors) > 0:
		return "#" + s.Anchors[0].Name
	}
	return ""
}

// mergedHeadings returns the heading path of a group: the common path of its
// sections, followed by their own headings joined with slashes.
func mergedHeadings(group []document.Section) []string {
	common := group[0].Headings
	for _, s := range group[1:] {
		n := 0
		for n < min(len(common), len(s.Headings)) && common[n] == s.Headings[n] {
			n++
		}
		common = common[:n]
	}
	var siblings []string
	for _, s := range group {
		if len(s.Headings) > len(common) && !slices.Contains(siblings, s.Headings[len(common)]) {
			siblings = append(siblings, s.Headings[len(common)])
		}
	}
	if len(siblings) == 0 {
		return common
	}
	return append(slices.Clone(common), document.Shorten(strings.Join(siblings, " / ")))
}

// A piece is an indivisible part of a long section. If text is empty, its text
// is that of its lines.
type piece struct {
	first, last int
	size
	text   string
	within []string // terms of the blocks that it continues
}

// splitMark is in the text of each note on a block that was split.
const splitMark = " was split into "

// IsSplit reports whether a note is on a block that was split. Nothing of it is
// skipped.
func IsSplit(note string) bool { return strings.Contains(note, splitMark) }

// pieces splits oversized blocks into as few parts as possible.
func (c *splitter) pieces(s document.Section, blocks []document.Block) []piece {
	var pieces []piece
	for _, b := range c.withText(blocks) {
		switch n := c.size(b.First, b.Last); {
		case n.fits():
			pieces = append(pieces, piece{first: b.First, last: b.Last, size: n})
		case len(b.Parts) > 0:
			pieces = append(pieces, continuing(b.Term, c.pieces(s, b.Parts))...)
		case b.Kind == document.Prose:
			pieces = append(pieces, c.splitLines(b, splitSentences)...)
		default:
			parts := c.splitLines(b, splitWords)
			what := map[document.BlockKind]string{document.Code: "block of code", document.Markup: "block of HTML",
				document.Table: "table"}[b.Kind]
			if len(parts) > 1 {
				c.notes = append(c.notes,
					document.Note{Place: c.noteLocation(s, b.First),
						Text: fmt.Sprintf("a %s of %d words"+splitMark+"%d passages", what, n.words, len(parts))})
			}
			pieces = append(pieces, parts...)
		}
	}
	return pieces
}

// continuing adds the term of a block to all of its pieces but the first, which shows it.
func continuing(term string, pieces []piece) []piece {
	if term == "" {
		return pieces
	}
	for i := 1; i < len(pieces); i++ {
		pieces[i].within = append([]string{document.Shorten(term)}, pieces[i].within...)
	}
	return pieces
}

// splitLines splits a block between its lines, and an oversized line with
// split. Each part of a code block or table gets the enclosing lines.
func (c *splitter) splitLines(b document.Block, split func(string) []string) []piece {
	first, last := b.First, b.Last
	if n := strings.Count(b.Open, "\n") + 1; b.Open != "" && c.words(first, first+n-1) < maxMerged &&
		len(b.Open) < MaxTextBytes/8 {
		first += n
		if document.ClosesFence(c.Lines[last-1], b.Close) {
			last--
		}
	} else {
		b.Open, b.Close = "", ""
	}
	target := balancedSize(c.words(first, last))
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
		if document.IsBlank(line) && sum.words >= target*3/4 {
			flush(i)
		}
	}
	flush(last)
	if len(pieces) == 0 {
		return nil // only white space
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
	for len(lines) > 0 && document.IsBlank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && document.IsBlank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// pack combines pieces into passages of about equal size. A piece that introduces the next one
// stays with it.
func (c *splitter) pack(pieces []piece) []piece {
	total := 0
	for _, p := range pieces {
		total += p.words
	}
	target := balancedSize(total)
	var packed []piece
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		c.setText(&p)
		for i+1 < len(pieces) && introduces(p.text) && p.plus(pieces[i+1].size).fits() {
			i++
			c.setText(&pieces[i])
			p.append(&pieces[i])
		}
		if n := len(packed); n > 0 && packed[n-1].words < target && packed[n-1].plus(p.size).fits() {
			packed[n-1].append(&p)
		} else {
			packed = append(packed, p)
		}
	}
	return packed
}

// introduces reports whether a piece introduces the next one: with a colon, as a caption, or as
// a term without its description.
func introduces(text string) bool {
	text = strings.TrimSpace(text)
	return passage.Introduces(text) || !strings.Contains(text, "\n") && passage.IsTerm(text)
}

// setText sets a piece's text if it is that of its lines.
func (c *splitter) setText(p *piece) {
	if p.text == "" {
		p.text = strings.Join(c.Lines[p.first-1:p.last], "\n")
	}
}

// append appends the piece that follows.
func (p *piece) append(next *piece) {
	p.text += separator(p.last, next.first) + next.text
	p.last, p.size = next.last, p.plus(next.size)
}

// separator returns the text between two pieces, given the last line of one and
// the first of the other.
func separator(last, first int) string {
	switch {
	case first == last:
		return " "
	case first > last+1:
		return "\n\n"
	}
	return "\n"
}

// balancedSize returns the size at which n words split into equal parts.
func balancedSize(n int) int {
	parts := max(1, (n+document.MaxPassageWords-1)/document.MaxPassageWords)
	return (n + parts - 1) / parts
}

// splitSentences splits an oversized line after sentences.
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

// splitWords splits an oversized line between words.
func splitWords(line string) []string {
	return splitAfter(line, func(string) int { return -1 })
}

// splitAfter splits a line into about equal parts: at the offset that end
// returns, else at white space, else between any characters.
func splitAfter(line string, end func(string) int) []string {
	target := balancedSize(document.CountWords(line))
	var parts []string
	for {
		n := prefixWithin(line, target)
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

// prefixWithin returns the length of the longest prefix of s with at most n
// words that fits into a passage. It is at least one character.
func prefixWithin(s string, n int) int {
	var m document.WordCounter
	for i, r := range s {
		if m.Add(r); i > 0 && (m.Words() > n || i > MaxTextBytes/2) {
			return i
		}
	}
	return len(s)
}
