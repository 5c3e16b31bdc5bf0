package hook

import (
	"math"
	"math/bits"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// With these weights, denials quote the most phrases of the answers (make eval ONLY=phrases).
// Values nearby do nearly as well.
const (
	// maxExtractTerms is the number of terms by which passages are shortened.
	maxExtractTerms = 64
	// leading is what the block that starts the text gains if it has at most maxLead
	// units: often a sentence that says what the section is about. Long ones displace
	// examples.
	leading = .4
	maxLead = 300
	// adjoining is what a block with a term gains from each kept block next to it, and
	// connecting what one without gains: blocks often rest on the one before.
	adjoining  = .38
	connecting = .06
	// repeatedTerm is what is left of a term's weight with each chosen block that has it.
	repeatedTerm = .5
	// inCode is the factor of the weight of terms in code: an example says how.
	inCode = 1.5
	// inherited is the share of the weight of a term that the items of a list and the rows of a
	// table have if it is in the introduction: they are what it announces.
	inherited = .1
	// termless is the share of the limit up to which blocks without a term are added.
	termless = .25
	// byLength is the power of a block's length by which its score is divided, so that a long
	// block does not displace several short ones. Examples are rarely short: codeByLength is
	// that of code from a limit of roomForCode units on. A shorter extract says more with a
	// sentence.
	byLength     = .5
	codeByLength = .3
	roomForCode  = 1200
	// minUnits is the length below which a block's score does not increase further.
	minUnits = 60
	// longParagraph is the length in bytes from which the sentences of a paragraph are blocks,
	// each at least half as long.
	longParagraph = 400
	// leastCode is the least length in bytes of a part of a code block that exceeds half of the
	// limit.
	leastCode = 120
)

// A textBlock is a part of a passage that is quoted whole or not at all: a paragraph or some
// sentences of a long one, a list item, a table row or a code block, with the line that
// introduces it. Of a code block that exceeds half of the limit, it is some statements.
type textBlock struct {
	text  string
	units int    // length in UTF-16 units, fences included
	code  bool   // it has code
	terms uint64 // mask of the terms that it contains
	// lead is the mask of the terms in the introduction of the list or table that it is an
	// item or row of.
	lead uint64
	// parent is the place of the list item that it is an item or a paragraph of, or -1.
	parent int
	kept   bool
	twin   bool // code that is nearly a kept block's
	leads  bool // it starts the text
	// opening is the first line of the code block that it continues, and closing the last
	// line of one that continues after it.
	opening, closing string
	// neighbors is the number of kept blocks next to it.
	neighbors int
}

// An extract is the blocks of a passage, some of which are kept.
type extract struct {
	blocks  []textBlock
	weights []float64 // of the terms
	limit   int
	room    int // what is left of limit
}

// extractOf shortens a text to limit UTF-16 units. It keeps the blocks with the terms of the
// highest weights that few blocks have, in their order, and marks the gaps. Without any of
// the terms, it keeps the beginning.
func extractOf(s string, limit int, terms *termFinder) string {
	if utf16Len(s) <= limit {
		return s
	}
	x := extract{blocks: blocksOf(s, limit), limit: limit, room: limit - utf16Len(cutMark)}
	if !x.weigh(terms) || !x.keepNext() {
		return shorten(s, limit)
	}
	for x.keepNext() {
	}
	return x.String()
}

// weigh finds the terms in the blocks. It returns false if there are none.
func (x *extract) weigh(f *termFinder) (found bool) {
	x.weights = make([]float64, len(f.terms))
	count := make([]int, len(f.terms))
	for i := range x.blocks {
		b := &x.blocks[i]
		b.leads = i == 0
		b.terms = f.find(lexical.Fold(b.text))
		for terms := b.terms; terms != 0; terms &= terms - 1 {
			count[bits.TrailingZeros64(terms)]++
		}
	}
	x.findLeads()
	x.findParents()
	for k, n := range count {
		x.weights[k] = f.terms[k].Weight * math.Log(float64(len(x.blocks)+1)/(float64(n)+.5))
		found = found || n > 0
	}
	return found
}

// findLeads sets the leads of the blocks. The first item of a list is in the block of its
// introduction, the first row of a table in that of its head.
func (x *extract) findLeads() {
	lead, inList := uint64(0), false
	for i := range x.blocks {
		b := &x.blocks[i]
		if isListItem(b.text) && (inList || !strings.HasPrefix(b.text, "|")) {
			b.lead = lead
			continue
		}
		last := strings.TrimRight(b.text, "\n")
		inList, lead = isListItem(last[strings.LastIndexByte(last, '\n')+1:]), 0
		if inList {
			lead = b.terms
		}
	}
}

// findParents sets the parents of the blocks: the nearest list items before them with less
// indentation.
func (x *extract) findParents() {
	var open []int // list items, each within the one before
	for i := range x.blocks {
		b := &x.blocks[i]
		for len(open) > 0 && len(indentOf(x.blocks[open[len(open)-1]].text)) >= len(indentOf(b.text)) {
			open = open[:len(open)-1]
		}
		b.parent = -1
		if len(open) > 0 {
			b.parent = open[len(open)-1]
		}
		if isListItem(b.text) {
			open = append(open, i)
		}
	}
}

// isListItem reports whether a text starts with an item of a list or a row of a table.
func isListItem(text string) bool {
	text = strings.TrimLeft(text, " ")
	return strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "|") || isStep(text)
}

// isStep reports whether a text starts with an item of a numbered list.
func isStep(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	return len(rest) < len(text) && strings.HasPrefix(rest, ". ")
}

// A termFinder finds terms in folded texts. A word has a term if it starts with the term's
// start, which is a whole word if it is short or a name such as json_path: json_path_query is
// another name.
type termFinder struct {
	terms []lexical.TermWeight
	whole uint64      // mask of the terms that are whole words
	first [256]uint64 // masks of the terms by their first byte
}

func newTermFinder(terms []lexical.TermWeight) *termFinder {
	const short = 2
	f := &termFinder{terms: terms[:min(len(terms), maxExtractTerms)]}
	for k, t := range f.terms {
		if t.Start == "" {
			continue
		}
		f.first[t.Start[0]] |= 1 << k
		if len(t.Start) <= short || isName(t.Start) {
			f.whole |= 1 << k
		}
	}
	return f
}

// find returns the mask of the terms in a text.
func (f *termFinder) find(text string) (found uint64) {
	for i := range len(text) {
		if i > 0 && isLetter(text[i-1]) {
			continue
		}
		for rest := f.first[text[i]] &^ found; rest != 0; rest &= rest - 1 {
			k := bits.TrailingZeros64(rest)
			start := f.terms[k].Start
			end := i + len(start)
			if strings.HasPrefix(text[i:], start) && (f.whole>>k&1 == 0 || end == len(text) || !isNameByte(text[end])) {
				found |= 1 << k
			}
		}
	}
	return found
}

// isName reports whether a folded word has other characters than letters.
func isName(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

func isNameByte(c byte) bool { return isLetter(c) || c == '_' || '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// keepNext keeps the best block for which there is room. It returns false if there is
// none.
func (x *extract) keepNext() bool {
	best, most := -1, 0.
	for i := range x.blocks {
		b := &x.blocks[i]
		if b.kept || b.twin || b.terms|b.lead == 0 && b.neighbors < 2 && x.room < int((1-termless)*float64(x.limit)) {
			continue
		}
		terms, units := x.withParents(b)
		if score := x.score(b, terms, units); score > most && units <= x.space(b) {
			best, most = i, score
		}
	}
	if best < 0 {
		return false
	}
	x.keep(best)
	return true
}

// withParents returns the terms and the length of a block and of its parents that are not kept
// yet, with a mark for the gap after each.
func (x *extract) withParents(b *textBlock) (terms uint64, units int) {
	terms, units = b.terms, b.units
	for p := b.parent; p >= 0 && !x.blocks[p].kept; p = x.blocks[p].parent {
		terms |= x.blocks[p].terms
		units += x.blocks[p].units + utf16Len(cutMark)
	}
	return terms, units
}

// score returns the weight of terms, those of a block and its parents, in relation to their
// length.
func (x *extract) score(b *textBlock, terms uint64, units int) float64 {
	score, power := 0., byLength
	for ; terms != 0; terms &= terms - 1 {
		score += x.weights[bits.TrailingZeros64(terms)]
	}
	if b.code {
		score *= inCode
		if x.limit >= roomForCode {
			power = codeByLength
		}
	}
	for terms := b.lead &^ b.terms; terms != 0; terms &= terms - 1 {
		score += inherited * x.weights[bits.TrailingZeros64(terms)]
	}
	if b.leads && b.units <= maxLead {
		score += leading
	}
	gain := adjoining
	if b.terms == 0 {
		gain = connecting
	}
	score += gain * float64(b.neighbors)
	return score / math.Pow(float64(max(units, minUnits)), power)
}

// space returns the room for a block's text, next to the mark of the gap before it.
func (x *extract) space(b *textBlock) int {
	if b.leads || b.neighbors > 0 {
		return x.room
	}
	return x.room - utf16Len(cutMark)
}

// keep keeps a block, after its parents: without the name of an option, nobody knows what a
// description is about.
func (x *extract) keep(i int) {
	b := &x.blocks[i]
	if b.parent >= 0 && !x.blocks[b.parent].kept {
		x.keep(b.parent)
	}
	x.room = x.space(b) - b.units
	b.kept = true
	if i+1 < len(x.blocks) {
		x.blocks[i+1].neighbors++
	}
	if i > 0 {
		x.blocks[i-1].neighbors++
	}
	for terms := b.terms; terms != 0; terms &= terms - 1 {
		x.weights[bits.TrailingZeros64(terms)] *= repeatedTerm
	}
	if !b.code {
		return
	}
	for j := range x.blocks {
		other := &x.blocks[j]
		other.twin = other.twin || !other.kept && other.code && areTwins(b.text, other.text)
	}
}

// areTwins reports whether most lines of the code b are in the code a: an example in another
// dialect of a language, with other imports.
func areTwins(a, b string) bool {
	const same = .75
	lines := make(map[string]bool)
	for line := range strings.Lines(a) {
		lines[strings.TrimSpace(line)] = true
	}
	shared, all := 0, 0
	for line := range strings.Lines(b) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "```") {
			all++
			if lines[line] {
				shared++
			}
		}
	}
	return float64(shared) >= same*float64(all)
}

// String returns the blocks that are kept, with a mark for each gap. Parts of code have the
// fences of the whole.
func (x *extract) String() string {
	var out strings.Builder
	mark := strings.TrimSpace(cutMark) + "\n"
	last := len(x.blocks) - 1
	for i := range x.blocks {
		b := &x.blocks[i]
		if !b.kept {
			continue
		}
		if i > 0 && !x.blocks[i-1].kept {
			out.WriteString(mark + b.opening)
		}
		if i < last && !x.blocks[i+1].kept && b.closing != "" {
			out.WriteString(strings.TrimRight(b.text, "\n") + "\n" + b.closing)
		} else {
			out.WriteString(b.text)
		}
	}
	gap := !x.blocks[last].kept
	text := strings.TrimRight(out.String(), " \t\n")
	switch {
	case gap && strings.HasSuffix(text, "```"):
		text += "\n" + strings.TrimSpace(cutMark)
	case gap:
		text += cutMark
	}
	return text
}

// blocksOf splits a text into blocks. What introduces a block belongs to it, of a long
// paragraph the last sentence.
func blocksOf(s string, limit int) []textBlock {
	var blocks []textBlock
	at := starts(s, limit)
	for i, from := range at {
		to := len(s)
		if i+1 < len(at) {
			to = at[i+1]
		}
		if n := len(blocks); n > 0 && introduces(blocks[n-1].text) {
			before := &blocks[n-1]
			introduction := len(before.text) - lastSentence(before.text)
			from -= introduction
			before.text = before.text[:len(before.text)-introduction]
			if before.text == "" {
				blocks = blocks[:n-1]
			}
		}
		blocks = append(blocks, textBlock{text: s[from:to]})
	}
	addFences(blocks)
	return blocks
}

// addFences sets the fences and the lengths of the blocks of a text, and which have code.
func addFences(blocks []textBlock) {
	fence, opening := codeFence(""), ""
	for i := range blocks {
		b := &blocks[i]
		if fence != "" {
			b.opening = opening
		}
		for line := range strings.Lines(b.text) {
			outside := fence == ""
			if fence = fence.after(strings.TrimSpace(line)); outside && fence != "" {
				opening = line
			}
		}
		if fence != "" {
			b.closing = indentOf(opening) + string(fence) + "\n"
		}
		b.code = b.opening != "" || strings.Contains(b.text, "```")
		b.units = utf16Len(b.opening) + utf16Len(b.text) + utf16Len(b.closing)
	}
}

// indentOf returns the white space at the start of a line.
func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// introduces reports whether a block introduces the one after it: with a colon, as a caption in
// bold, as the head of a table or as a heading.
func introduces(block string) bool {
	block = strings.TrimSpace(block)
	last := block[strings.LastIndexByte(block, '\n')+1:]
	return passage.Introduces(block) || isTableRule(last) ||
		strings.HasPrefix(last, "#") && !strings.HasSuffix(block, "```")
}

// isTableRule reports whether a line is the one below the head of a table.
func isTableRule(line string) bool {
	return strings.HasPrefix(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: ") == ""
}

// lastSentence returns the start of the last sentence of a block that introduces the next
// one, 0 if the block is short.
func lastSentence(block string) int {
	const short = 200
	if len(block) <= short || strings.Contains(block, "```") {
		return 0
	}
	if i := strings.LastIndex(block, ". "); i > 0 {
		return i + len(". ")
	}
	return 0
}

// starts returns the offsets at which blocks start.
func starts(s string, limit int) []int {
	list := []int{0}
	at, fence, empty, long, before := 0, codeFence(""), false, false, ""
	for line := range strings.Lines(s) {
		text := strings.TrimSpace(line)
		if long && fence != "" && empty && at-list[len(list)-1] >= leastCode && startsStatement(line) &&
			!introduces(before) {
			list = append(list, at)
		}
		if fence == "" && at > 0 && text != "" &&
			(empty || startsItem(line) || strings.HasPrefix(line, "|") && !isTableRule(text)) {
			list = append(list, at)
		}
		outside := fence == ""
		if fence = fence.after(text); outside && fence != "" {
			long = bytesOfCode(s[at:], fence) > limit/2
		}
		if fence == "" && len(line) >= longParagraph && !strings.HasPrefix(line, "|") {
			list = appendSentences(list, at, line)
		}
		at += len(line)
		if empty = text == ""; !empty {
			before = text
		}
	}
	return list
}

// startsItem reports whether a line starts a list item, or one within another that is more than a
// value.
func startsItem(line string) bool {
	const longestValue = 24
	text := strings.TrimSpace(line)
	return isStep(text) || strings.HasPrefix(text, "- ") && (indentOf(line) == "" || len(text) > longestValue)
}

// bytesOfCode returns the length of the code at the start of a text.
func bytesOfCode(s string, fence codeFence) int {
	_, code, _ := strings.Cut(s, string(fence))
	code, _, _ = strings.Cut(code, string(fence))
	return len(code)
}

// startsStatement reports whether a line of code is not within a statement, as far as its
// indentation tells.
func startsStatement(line string) bool {
	return indentOf(line) == "" && strings.IndexByte("})]`\n", line[0]) < 0
}

// appendSentences appends the offsets at which the parts of a long line start, which itself
// starts at an offset. A part is sentences of at least half the length of a long paragraph.
func appendSentences(list []int, at int, line string) []int {
	const least = longParagraph / 2
	for from := 0; len(line)-from >= longParagraph; {
		n := sentenceAfter(line[from:], least)
		if n == 0 || len(line)-from-n < least/2 {
			break
		}
		from += n
		list = append(list, at+from)
	}
	return list
}

// sentenceAfter returns the start of the first sentence after least bytes of a line, or 0. The
// period of an abbreviation or a number ends no sentence.
func sentenceAfter(line string, least int) int {
	for i := least; i+2 < len(line); i++ {
		if line[i] != '.' || line[i+1] != ' ' || line[i+2] < 'A' || line[i+2] > 'Z' {
			continue
		}
		if isLetter(line[i-2]) && isLetter(line[i-1]) || strings.IndexByte(")`*", line[i-1]) >= 0 {
			return i + 2
		}
	}
	return 0
}

// wordWeights returns equal weights for words, without the endings of their inflected forms.
func wordWeights(words []string) []lexical.TermWeight {
	list := make([]lexical.TermWeight, len(words))
	for i, w := range words {
		list[i] = lexical.TermWeight{Start: stemOf(lexical.Fold(strings.Trim(w, "`"))), Weight: 1}
	}
	return list
}

// stemOf returns the beginning of a word, without the endings of its inflected forms. Names
// have none.
func stemOf(word string) string {
	const least = 4
	if isName(word) {
		return word
	}
	return word[:max(min(least, len(word)), len(word)-2)]
}
