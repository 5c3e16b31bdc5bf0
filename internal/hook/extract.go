package hook

import (
	"math"
	"math/bits"
	"strings"
)

const (
	// maxExtractWords is the number of words of a query by which passages are cut.
	maxExtractWords = 12
	// leading is what the block that starts the text gains if it has at most maxLead
	// units: often a sentence that says what the section is about. Long ones displace
	// examples.
	leading = .5
	maxLead = 200
	// adjoining is what a block with a word gains from each kept block next to it, and
	// connecting what one without gains: blocks often rest on the one before.
	adjoining  = 1.5
	connecting = .5
	// repeatedWord is what is left of a word's weight with each chosen block that has it.
	repeatedWord = .3
	// wordless is the share of the limit up to which blocks without a word are added.
	wordless = .5
)

// A textBlock is a part of a passage that is quoted whole or not at all: a paragraph, a
// list item, a table row or a code block, with the line that introduces it.
type textBlock struct {
	text  string
	units int    // length in UTF-16 units
	words uint64 // mask of the words that it contains
	kept  bool
	leads bool // it starts the text
	// neighbors is the number of kept blocks next to it.
	neighbors int
}

// An extract is the blocks of a passage, some of which are kept.
type extract struct {
	blocks  []textBlock
	weights []float64 // of the words
	limit   int
	room    int // what is left of limit
}

// extractOf shortens a text to limit UTF-16 units. It keeps the blocks with the words that
// few blocks have, in their order, and marks the gaps. Without any of the words, it keeps
// the beginning.
func extractOf(s string, limit int, words []string) string {
	if utf16Len(s) <= limit {
		return s
	}
	x := extract{blocks: blocksOf(s), limit: limit, room: limit - utf16Len(cutMark)}
	if !x.weigh(words[:min(len(words), maxExtractWords)]) || !x.keepNext() {
		return shorten(s, limit)
	}
	for x.keepNext() {
	}
	return x.String()
}

// weigh finds the words in the blocks. It returns false if there are none.
func (x *extract) weigh(words []string) (found bool) {
	x.weights = make([]float64, len(words))
	stems := make([]string, len(words))
	for k, w := range words {
		stems[k] = asciiLower(stemOf(strings.Trim(w, "`")))
	}
	count := make([]int, len(words))
	for i := range x.blocks {
		b := &x.blocks[i]
		b.leads = i == 0
		folded := asciiLower(b.text)
		for k, stem := range stems {
			if strings.Contains(folded, stem) {
				b.words |= 1 << k
				count[k]++
			}
		}
	}
	for k, n := range count {
		x.weights[k] = math.Log(float64(len(x.blocks)+1) / (float64(n) + .5))
		found = found || n > 0
	}
	return found
}

// keepNext keeps the best block for which there is room. It returns false if there is
// none.
func (x *extract) keepNext() bool {
	best, most := -1, 0.
	for i := range x.blocks {
		b := &x.blocks[i]
		if b.kept || b.words == 0 && b.neighbors < 2 && x.room < int(wordless*float64(x.limit)) {
			continue
		}
		score := x.score(b)
		if score > most && b.units <= x.space(b) {
			best, most = i, score
		}
	}
	if best < 0 {
		return false
	}
	x.keep(best)
	return true
}

// score returns the weight of a block's words in relation to its length, so that a long
// block does not displace several short ones.
func (x *extract) score(b *textBlock) float64 {
	score := 0.
	for words := b.words; words != 0; words &= words - 1 {
		score += x.weights[bits.TrailingZeros64(words)]
	}
	if b.leads && b.units <= maxLead {
		score += leading
	}
	gain := adjoining
	if b.words == 0 {
		gain = connecting
	}
	score += gain * float64(b.neighbors)
	return score / math.Sqrt(float64(max(b.units, minUnits)))
}

// minUnits is the length below which a block's score does not increase further.
const minUnits = 60

// space returns the room for a block's text, next to the mark of the gap before it.
func (x *extract) space(b *textBlock) int {
	if b.leads || b.neighbors > 0 {
		return x.room
	}
	return x.room - utf16Len(cutMark)
}

// keep keeps a block.
func (x *extract) keep(i int) {
	b := &x.blocks[i]
	x.room = x.space(b) - b.units
	b.kept = true
	if i+1 < len(x.blocks) {
		x.blocks[i+1].neighbors++
	}
	if i > 0 {
		x.blocks[i-1].neighbors++
	}
	for words := b.words; words != 0; words &= words - 1 {
		x.weights[bits.TrailingZeros64(words)] *= repeatedWord
	}
}

// String returns the blocks that are kept, with a mark for each gap.
func (x *extract) String() string {
	var out strings.Builder
	mark := strings.TrimSpace(cutMark) + "\n"
	gap := false
	for i := range x.blocks {
		b := &x.blocks[i]
		if !b.kept {
			gap = true
			continue
		}
		if gap {
			out.WriteString(mark)
		}
		gap = false
		out.WriteString(b.text)
	}
	text := strings.TrimRight(out.String(), " \t\n")
	switch {
	case gap && strings.HasSuffix(text, "```"):
		text += "\n" + strings.TrimSpace(cutMark)
	case gap:
		text += cutMark
	}
	return text
}

// blocksOf splits a text into blocks. A heading belongs to the block after it, and so does
// a paragraph that ends with a colon, of a long one the last sentence.
func blocksOf(s string) []textBlock {
	var blocks []textBlock
	at := starts(s)
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
			if before.units = utf16Len(before.text); before.units == 0 {
				blocks = blocks[:n-1]
			}
		}
		blocks = append(blocks, textBlock{text: s[from:to], units: utf16Len(s[from:to])})
	}
	return blocks
}

// introduces reports whether a block introduces the one after it.
func introduces(block string) bool {
	block = strings.TrimSpace(block)
	last := block[strings.LastIndexByte(block, '\n')+1:]
	return strings.HasSuffix(last, ":") || strings.HasPrefix(last, "#") && !strings.HasSuffix(block, "```")
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
func starts(s string) []int {
	list := []int{0}
	at, fence, empty := 0, codeFence(""), false
	for line := range strings.Lines(s) {
		text := strings.TrimSpace(line)
		if fence == "" && at > 0 && text != "" && (empty || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "|")) {
			list = append(list, at)
		}
		fence = fence.after(text)
		at += len(line)
		empty = text == ""
	}
	return list
}

// stemOf returns the beginning of a word, without the endings of its inflected forms.
func stemOf(word string) string {
	const least = 4
	return word[:max(min(least, len(word)), len(word)-2)]
}

// asciiLower returns s with its ASCII letters in lower case. Its length is that of s.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
