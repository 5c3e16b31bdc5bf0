package quicksearch

import (
	"cmp"
	"hash/crc32"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/lexical"
)

const (
	// maxSiblings is how many sections next to the best one are quoted with it.
	maxSiblings = 2
	// siblingReach is how many passages before and after the best one are
	// considered for that.
	siblingReach = 2
	// leastDepth is the level of headings from which sections can be alternatives.
	// Those above are the parts of a page.
	leastDepth = 3
	// pageHits is how many passages a page gives that is searched by itself. These
	// are the best page, and the next ones up to maxPages whose scores are nearPage
	// of its score.
	pageHits = 5
	maxPages = 3
	nearPage = .9
	// samePage is what each passage of a page that is chosen leaves of the scores
	// of its others: other pages follow unless the page is the answer.
	samePage = .92
	// continued is what is left of the score of a passage if another one of its
	// section is chosen.
	continued = .85
	// messageDepth is how many hits are searched for a pasted message. If none has
	// it, the answer must have the confidence withoutMessage: manuals describe many
	// errors in other words, so that to demand the message would lose most answers.
	messageDepth   = 30
	withoutMessage = .7
	// leastScore is the share of the best hit's score below which a hit is not
	// quoted.
	leastScore = .55
	// likeness is the share of the shorter text's word sequences in the other
	// from which two texts are near-identical.
	likeness = .6
)

// Quote is Search for a reader who sees the hits and nothing else. It returns
// the best passage, the sections next to it that are its alternatives, and then
// the best passages of its page and of others. No text is there twice. If the
// query is a pasted error message, the passages that have the message come first.
func (x *Index) Quote(q Query) (Answer, error) {
	a, found, err := x.search(q)
	if err != nil || len(found) == 0 {
		return a, err
	}
	if !a.Confident {
		a.Hits, err = x.decode(found[:1])
		return a, err
	}
	if found, err = x.withPages(q, found); err != nil {
		return Answer{}, err
	}
	s := selection{x: x, limit: q.Limit, room: q.MaxBytes}
	if m := messageOf(q.Text, q.Names); m != nil {
		share, err := x.holdersFirst(m, found)
		if err != nil {
			return Answer{}, err
		}
		if share == 0 && a.Confidence < withoutMessage {
			a.Confident = false
		}
	}
	if err := s.choose(found); err != nil {
		return Answer{}, err
	}
	a.Hits = s.chosen
	return a, nil
}

// withPages adds the passages of the best pages, of which a search of the whole
// database returns two each.
func (x *Index) withPages(q Query, found []lexical.Hit) ([]lexical.Hit, error) {
	pages := []uint32{found[0].Document}
	for _, h := range found {
		if len(pages) < maxPages && h.Score >= nearPage*found[0].Score && !slices.Contains(pages, h.Document) {
			pages = append(pages, h.Document)
		}
	}
	known := make(map[uint32]bool, len(found))
	for _, h := range found {
		known[h.Passage] = true
	}
	hits, err := x.lexical.SearchDocuments(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Limit: pageHits}, pages...)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if !known[h.Passage] {
			found = append(found, h)
		}
	}
	slices.SortStableFunc(found[1:], func(a, b lexical.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return found, nil
}

// A selection is the passages chosen so far.
type selection struct {
	x      *Index
	limit  int
	room   int // bytes
	chosen []Hit
	texts  []quotation
}

// A quotation is a chosen text, as it is compared with others.
type quotation struct {
	text      string
	sequences []uint32
}

func (s *selection) choose(found []lexical.Hit) error {
	best, err := s.x.decode(found[:1])
	if err != nil {
		return err
	}
	s.add(best[0])
	if err := s.addSiblings(best[0]); err != nil {
		return err
	}
	again := make(map[uint32]bool)    // more of a section that is chosen
	worth := make(map[uint32]float64) // of a page's next passage
	worth[best[0].At] = samePage
	rest := slices.DeleteFunc(found[1:], func(h lexical.Hit) bool { return h.Score < leastScore*best[0].Score })
	for len(rest) > 0 && len(s.chosen) < s.limit && s.room > 0 {
		next, most := 0, 0.
		for i, h := range rest {
			score := h.Score
			if w, ok := worth[h.Document]; ok {
				score *= w
			}
			if score > most {
				next, most = i, score
			}
		}
		h := rest[next]
		rest = slices.Delete(rest, next, next+1)
		hits, err := s.x.decode([]lexical.Hit{h})
		if err != nil {
			return err
		}
		if s.continues(hits[0]) && !again[h.Passage] {
			again[h.Passage] = true
			h.Score *= continued
			rest = append(rest, h)
			continue
		}
		if s.add(hits[0]) {
			if worth[h.Document] == 0 {
				worth[h.Document] = 1
			}
			worth[h.Document] *= samePage
		}
	}
	return nil
}

// holdersFirst sorts the passages that have the message to the front, the
// largest part of it first, and returns how large that is.
func (x *Index) holdersFirst(m *message, found []lexical.Hit) (share float64, err error) {
	first := found[:min(messageDepth, len(found))]
	hits, err := x.decode(first)
	if err != nil {
		return 0, err
	}
	shares := make(map[uint32]float64, len(hits))
	for _, h := range hits {
		shares[h.Number] = m.share(h.Text)
	}
	slices.SortStableFunc(first, func(a, b lexical.Hit) int { return cmp.Compare(shares[b.Passage], shares[a.Passage]) })
	return shares[first[0].Passage], nil
}

// continues reports whether a passage of the same section is chosen.
func (s *selection) continues(h Hit) bool {
	return slices.ContainsFunc(s.chosen, func(c Hit) bool { return c.At == h.At && slices.Equal(c.Headings, h.Headings) })
}

// add adds a passage whose text is not there yet.
func (s *selection) add(h Hit) bool {
	text := quotation{h.Text, sequences(h.Text)}
	for i := range s.chosen {
		if s.chosen[i].Number == h.Number || alike(&s.texts[i], &text) {
			return false
		}
	}
	s.chosen, s.texts = append(s.chosen, h), append(s.texts, text)
	s.room -= len(h.Text)
	return true
}

// addSiblings adds the sections next to a passage that are its alternatives: of
// the same heading level, below the same heading, and about the same thing by
// the words of their headings. Those that share the most words count first.
func (s *selection) addSiblings(best Hit) error {
	if len(best.Headings) < leastDepth {
		return nil
	}
	members, err := s.x.table.Members(best.At)
	if err != nil {
		return err
	}
	at := slices.Index(members, best.Number)
	if at < 0 {
		return nil
	}
	from, to := max(0, at-siblingReach), min(len(members), at+siblingReach+1)
	var near []uint32
	for i := 1; i <= siblingReach; i++ {
		if at+i < to {
			near = append(near, members[at+i])
		}
		if at-i >= from {
			near = append(near, members[at-i])
		}
	}
	var siblings []Hit
	shared := make(map[uint32]int)
	for _, n := range near {
		p, err := s.x.table.Passage(n)
		if err != nil {
			return err
		}
		if shared[n] = alternatives(best.Headings, p.Headings); shared[n] > 0 {
			siblings = append(siblings, Hit{Passage: p, Number: n, At: best.At})
		}
	}
	slices.SortStableFunc(siblings, func(a, b Hit) int { return cmp.Compare(shared[b.Number], shared[a.Number]) })
	siblings = siblings[:min(maxSiblings, len(siblings))]
	slices.SortFunc(siblings, func(a, b Hit) int { return cmp.Compare(a.Number, b.Number) })
	for _, h := range siblings {
		s.add(h)
	}
	return nil
}

// alternatives is how many words the headings of two sections share that have the
// same parent and other headings.
func alternatives(a, b []string) (shared int) {
	n := len(a)
	if n < leastDepth || len(b) != n || a[n-1] == b[n-1] || !slices.Equal(a[:n-1], b[:n-1]) {
		return 0
	}
	words := headingWords(b[n-1])
	for _, w := range headingWords(a[n-1]) {
		if slices.Contains(words, w) {
			shared++
		}
	}
	return shared
}

// headingWords are the beginnings of a heading's longer words. What follows in
// parentheses, as the type of a setting, does not count.
func headingWords(heading string) []string {
	const least, most = 4, 5
	var words []string
	heading, _, _ = strings.Cut(heading, "(")
	for w := range wordsOf(heading) {
		if utf8.RuneCountInString(w) >= least {
			words = append(words, w[:min(most, len(w))])
		}
	}
	return words
}

// sequence is how many words make a sequence by which texts are compared, and
// sampled the share of the sequences that is compared: one of so many.
const (
	sequence = 4
	sampled  = 4
)

// sequences are the checksums of runs of words of a text, ascending: a sample of
// all runs.
func sequences(text string) []uint32 {
	data := []byte(text)
	var starts [sequence]int // of the last words, in turn
	var sums []uint32
	words, inside := 0, false
	for i := range len(data) + 1 {
		space := i == len(data) || data[i] <= ' '
		switch {
		case !space && !inside:
			starts[words%sequence] = i
			words++
		case space && inside && words >= sequence:
			if sum := crc32.ChecksumIEEE(data[starts[words%sequence]:i]); sum%sampled == 0 {
				sums = append(sums, sum)
			}
		}
		inside = !space
	}
	slices.Sort(sums)
	return slices.Compact(sums)
}

// alike reports whether most of the shorter of two texts is in the other. Texts
// too short to have sequences are compared as they are.
func alike(a, b *quotation) bool {
	short, long := a.sequences, b.sequences
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 {
		return a.text == b.text
	}
	same := 0
	for _, sum := range short {
		if _, ok := slices.BinarySearch(long, sum); ok {
			same++
		}
	}
	return float64(same) >= likeness*float64(len(short))
}
