package quicksearch

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// maxSiblings is how many sections next to the best one are candidates for that reason.
	maxSiblings = 2
	// siblingReach is how many passages before and after the best one are
	// considered for that.
	siblingReach = 2
	// leastDepth is the level of headings from which sections can be alternatives.
	// Those above are the parts of a page.
	leastDepth = 3
	// perPage is how many passages of a page are candidates.
	perPage = 5
	// samePage is what each passage of a page that is chosen leaves of the scores
	// of its others: other pages follow unless the page is the answer.
	samePage = .92
	// adjacent is the share of a chosen passage's score that the one after it has at least,
	// and the alternatives of the best one.
	adjacent = .9
	// newTerms is the weight of the query's terms in a passage that no chosen one contains,
	// times its score's share of the best one's.
	newTerms = 1
	// covering is that share from which a passage covers its terms. One far below contains
	// them in another context.
	covering = .55
	// newName is the bonus of a passage that defines a name of the query that no chosen one
	// defines.
	newName = .5
	// leastMissing is the share of the query's terms that no chosen passage covers from which
	// these are searched on their own. What is found is quoted at missingPlace.
	leastMissing = .08
	missingPlace = 3
	// relatedPlace is where the best passage for the related query is quoted.
	relatedPlace = 3
	// continued is what is left of the score of a passage if another one of its
	// section is chosen.
	continued = .95
	// messageDepth is how many hits are searched for a pasted message. If none has
	// it, the answer must have the confidence withoutMessage: manuals describe many
	// errors in other words, so that to demand the message would lose most answers.
	messageDepth   = 30
	withoutMessage = .7
	// shownBytes is how much of a passage counts towards Query.MaxBytes: readers shorten
	// longer ones.
	shownBytes = 700
	// leastScore is the share of the best hit's score below which a hit is not
	// quoted.
	leastScore = .4
	// likeness is the share of the shorter text's word sequences in the other
	// from which two texts are near-identical.
	likeness = .6
)

// Quote is Search for a reader who sees the hits and nothing else. It returns the best
// passage, then the best ones of its page and of others, above all those with terms that the
// chosen ones lack, the passages after them, and the sections that are alternatives of the
// best one. Terms that all of them lack are searched on their own, and so are the targets of
// the thesaurus key that the query resembles. No text is there twice. If the query is a pasted
// error message, the passages that have the message come first.
func (x *Index) Quote(q Query) (Answer, error) {
	return Quote(q, x.properties(), x.passages(), x.lexical.Search, x.lexical.Analyzer().Related)
}

// A relatedFunc finds a related query as lexical.Analyzer.Related.
type relatedFunc = func(text string, names []string) string

// A searchFunc searches as lexical.Index.Search.
type searchFunc = func(lexical.Query) ([]lexical.Hit, lexical.Signals, error)

// Passages are the passages among which Quote chooses.
type Passages interface {
	Passage(n uint32) (passage.Passage, error)
	// Members returns the passages of a document in order.
	Members(document uint32) ([]uint32, error)
	// Following returns the passage after one in its document, or false.
	Following(n uint32) (next uint32, found bool, err error)
}

// localPassages are those of a local database. Each is read only once: one that is next to
// another, or has a part of a pasted message, is often chosen later.
type localPassages struct {
	*passage.Table
	read map[uint32]passage.Passage
}

func (x *Index) passages() localPassages {
	return localPassages{x.table, make(map[uint32]passage.Passage)}
}

func (p localPassages) Passage(n uint32) (passage.Passage, error) {
	if known, ok := p.read[n]; ok {
		return known, nil
	}
	got, err := p.Table.Passage(n)
	if err == nil {
		p.read[n] = got
	}
	return got, err
}

func (p localPassages) Following(n uint32) (uint32, bool, error) {
	if n+1 >= uint32(p.Passages()) {
		return 0, false, nil
	}
	d, err := p.Document(n)
	if err != nil {
		return 0, false, err
	}
	after, err := p.Document(n + 1)
	return n + 1, err == nil && after == d, err
}

// Quote is Index.Quote with any search. related may be nil.
func Quote(q Query, p Properties, passages Passages, search searchFunc, related relatedFunc) (Answer, error) {
	q.Version = cmp.Or(q.Version, p.Version)
	found, signals, err := search(q.words(perPage))
	if err != nil || len(found) == 0 {
		return Answer{}, err
	}
	n := 1
	if _, enough := Judge(p.Confidence, signals); enough { // else no demand matters
		n = min(demandDepth, len(found))
	}
	best, err := decode(passages, found[:n])
	if err != nil {
		return Answer{}, err
	}
	m := messageOf(q.Text, q.Names)
	a := answer(p.Confidence, signals, q, best)
	s := selection{passages: passages, limit: q.Limit, room: q.MaxBytes, weights: signals.Weights, names: signals.Names,
		missing: ^uint64(0)}
	if a.Confident && m != nil {
		share, err := holdersFirst(passages, m, found)
		if err != nil {
			return Answer{}, err
		}
		a.Confident = share > 0 || a.Confidence >= withoutMessage
	}
	if a.limit(&q, &p, &signals.Demands, &best[0]); !a.Confident {
		a.Hits = best[:1]
		return a, nil
	}
	if err := s.choose(found); err != nil {
		return Answer{}, err
	}
	if err := s.addMissing(&q, s.missingWords(signals.Text), search); err != nil {
		return Answer{}, err
	}
	if related != nil {
		if err := s.addRelated(&q, related(signals.Text, q.Names), search); err != nil {
			return Answer{}, err
		}
	}
	a.Hits = s.chosen
	return a, nil
}

// A selection is the passages chosen so far.
type selection struct {
	passages Passages
	limit    int
	room     int // bytes
	chosen   []Hit
	texts    []quotation
	rest     []candidate
	weights  []lexical.TermWeight // of the query's terms
	names    uint64               // bits of the query's names in Hit.Terms
	best     float64              // score of the best passage
	// missing is the mask of the terms that no chosen passage covers.
	missing uint64
	worth   map[uint32]float64 // of a document's next passage; 0 is 1
}

// A candidate is a passage that may be chosen.
type candidate struct {
	lexical.Hit
	decoded *Hit // nil: not read yet
	// after is the best passage if it comes before this one, and only that makes this one
	// a candidate.
	after *Hit
}

// A quotation is a chosen text, as it is compared with others.
type quotation struct {
	text      string
	sequences []uint32
}

func (s *selection) choose(found []lexical.Hit) error {
	best, err := decode(s.passages, found[:1])
	if err != nil {
		return err
	}
	s.worth = make(map[uint32]float64)
	for _, h := range found[1:] {
		if h.Score >= leastScore*found[0].Score {
			s.rest = append(s.rest, candidate{Hit: h})
		}
	}
	s.add(best[0], false)
	s.best = found[0].Score
	s.cover(&found[0])
	if err := s.addSiblings(&best[0]); err != nil {
		return err
	}
	if err := s.addFollowing(&best[0]); err != nil {
		return err
	}
	for len(s.rest) > 0 && len(s.chosen) < s.limit && s.room > 0 {
		c := s.next()
		if c.decoded == nil {
			hits, err := decode(s.passages, []lexical.Hit{c.Hit})
			if err != nil {
				return err
			}
			c.decoded = &hits[0]
			if c.after != nil && !completes(c.after, c.decoded) {
				continue
			}
			if s.continues(c.decoded) {
				c.Score *= continued
				s.rest = append(s.rest, c)
				continue
			}
		}
		if s.add(*c.decoded, c.Terms&s.missing&s.names != 0) {
			s.cover(&c.Hit)
			if err := s.addFollowing(c.decoded); err != nil {
				return err
			}
		}
	}
	return nil
}

// next removes the best candidate and returns it.
func (s *selection) next() candidate {
	next, most := 0, -1.
	for i := range s.rest {
		c := &s.rest[i]
		score := c.Score*cmp.Or(s.worth[c.Document], 1) + newTerms*s.shareOf(c.Terms&s.missing)*min(1, c.Score/s.best)
		if c.Terms&s.missing&s.names != 0 {
			score += newName
		}
		if score > most {
			next, most = i, score
		}
	}
	c := s.rest[next]
	s.rest = slices.Delete(s.rest, next, next+1)
	return c
}

// cover removes the terms of a chosen passage from the missing ones.
func (s *selection) cover(h *lexical.Hit) {
	if h.Score >= covering*s.best {
		s.missing &^= h.Terms
	}
}

// shareOf returns the share of the query's terms in a mask.
func (s *selection) shareOf(terms uint64) float64 {
	share := 0.
	for ; terms != 0; terms &= terms - 1 {
		share += s.weights[bits.TrailingZeros64(terms)].Share
	}
	return share
}

// addFollowing makes a candidate of the passage after a chosen one, which often continues
// or completes it.
func (s *selection) addFollowing(h *Hit) error {
	n, found, err := s.passages.Following(h.Number)
	if err == nil && found {
		s.addCandidate(candidate{Hit: lexical.Hit{Passage: n, Document: h.At, Score: h.Score * adjacent}, after: h})
	}
	return err
}

// addCandidate adds a candidate. If the passage is one already, it has the higher score.
func (s *selection) addCandidate(c candidate) {
	if i := slices.IndexFunc(s.rest, func(other candidate) bool { return other.Passage == c.Passage }); i >= 0 {
		s.rest[i].Score = max(s.rest[i].Score, c.Score)
	} else {
		s.rest = append(s.rest, c)
	}
}

// completes reports whether the passage b after a is more of its section or the first
// section below it.
func completes(a, b *Hit) bool {
	n := len(a.Headings)
	return slices.Equal(a.Headings, b.Headings) ||
		n > 0 && len(b.Headings) > n && slices.Equal(a.Headings[:n-1], b.Headings[:n-1])
}

// holdersFirst sorts the passages that have the message to the front, the
// largest part of it first, and returns how large that is.
func holdersFirst(passages Passages, m *message, found []lexical.Hit) (share float64, err error) {
	first := found[:min(messageDepth, len(found))]
	hits, err := decode(passages, first)
	if err != nil {
		return 0, err
	}
	shares := make(map[uint32]float64, len(hits))
	for _, h := range hits {
		shares[h.Number] = m.share(h.Text)
	}
	slices.SortStableFunc(first, func(a,
		b lexical.Hit) int {
		return cmp.Compare(shares[b.Passage], shares[a.Passage])
	})
	return shares[first[0].Passage], nil
}

// continues reports whether a passage of the same section is chosen.
func (s *selection) continues(h *Hit) bool {
	return slices.ContainsFunc(s.chosen,
		func(c Hit) bool { return c.At == h.At && slices.Equal(c.Headings, h.Headings) })
}

// add adds a passage whose text is not there yet. One that defines a name of the query may
// resemble another: the pages of CMAKE_C_STANDARD and CMAKE_CXX_STANDARD share most words.
func (s *selection) add(h Hit, definesName bool) bool {
	text := quotation{h.Text, sequences(h.Text)}
	for i := range s.chosen {
		if s.chosen[i].Number == h.Number || !definesName && alike(&s.texts[i], &text) {
			return false
		}
	}
	s.chosen, s.texts = append(s.chosen, h), append(s.texts, text)
	s.room -= min(len(h.Text), shownBytes)
	s.worth[h.At] = cmp.Or(s.worth[h.At], 1) * samePage
	return true
}

// addSiblings makes candidates of the sections next to the best one that are its
// alternatives: of the same heading level, below the same heading, and about the same thing by
// the words of their headings. Those that share the most words count first.
func (s *selection) addSiblings(best *Hit) error {
	if len(best.Headings) < leastDepth {
		return nil
	}
	members, err := s.passages.Members(best.At)
	if err != nil {
		return err
	}
	at := slices.Index(members, best.Number)
	if at < 0 {
		return nil
	}
	var siblings []uint32
	shared := make(map[uint32]int)
	for _, n := range members[max(0, at-siblingReach):min(len(members), at+siblingReach+1)] {
		p, err := s.passages.Passage(n)
		if err != nil {
			return err
		}
		if shared[n] = alternatives(best.Headings, p.Headings); shared[n] > 0 {
			siblings = append(siblings, n)
		}
	}
	slices.SortStableFunc(siblings, func(a, b uint32) int { return cmp.Compare(shared[b], shared[a]) })
	for _, n := range siblings[:min(maxSiblings, len(siblings))] {
		s.addCandidate(candidate{Hit: lexical.Hit{Passage: n, Document: best.At, Score: best.Score * adjacent}})
	}
	return nil
}

// missingWords returns the words of the query's text that no chosen passage covers, if
// they are a considerable part of it.
func (s *selection) missingWords(text string) (words []string) {
	share := 0.
	for i, w := range s.weights {
		if s.missing>>i&1 == 0 || w.Share == 0 {
			continue
		}
		share += w.Share
		for _, field := range strings.Fields(text) {
			if strings.HasPrefix(lexical.Fold(field), w.Start) && !slices.Contains(words, field) {
				words = append(words, field)
			}
		}
	}
	if share < leastMissing {
		return nil
	}
	return words
}

// addMissing adds the best passage for words that the chosen ones lack: if it defines one
// of them, or has several close together. Any other would mention one in passing.
func (s *selection) addMissing(q *Query, words []string, search searchFunc) error {
	if len(words) == 0 {
		return nil
	}
	found, signals, err := search(q.bestFor(strings.Join(words, " ")))
	if err != nil || len(found) == 0 || !signals.DefinesName && signals.Proximity == 0 {
		return err
	}
	hits, err := decode(s.passages, found)
	if err != nil {
		return err
	}
	if kept := s.chosen[:min(len(s.chosen), s.limit-1)]; s.add(hits[0], false) {
		s.chosen = slices.Insert(kept, min(missingPlace, len(kept)), hits[0])
	}
	return nil
}

// addRelated quotes the best passage for a related query at relatedPlace, unless it is
// already quoted before. Without such a query, text is empty.
func (s *selection) addRelated(q *Query, text string, search searchFunc) error {
	if text == "" {
		return nil
	}
	found, _, err := search(q.bestFor(text))
	if err != nil || len(found) == 0 {
		return err
	}
	hits, err := decode(s.passages, found)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(s.chosen, func(c Hit) bool { return c.Number == hits[0].Number })
	if at < 0 && s.add(hits[0], false) {
		at = len(s.chosen) - 1
	}
	if at > relatedPlace {
		s.chosen = slices.Insert(slices.Delete(s.chosen, at, at+1), relatedPlace, hits[0])
	}
	s.chosen = s.chosen[:min(len(s.chosen), s.limit)]
	return nil
}

// bestFor returns the query for the best passage for another text.
func (q *Query) bestFor(text string) lexical.Query {
	return lexical.Query{Text: text, Names: q.Names, Named: true, Version: q.Version, Used: q.Used, Limit: 1}
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

const (
	// sequence is the number of words in a sequence by which texts are compared. One of
	// sampled sequences is compared.
	sequence = 4
	sampled  = 4
	// compared is how many bytes of a text are compared with others: near-identical
	// texts differ in a few words anywhere.
	compared = 1200
)

// sequences returns the hashes of a sample of all sequences of words at the beginning of a
// text, ascending.
func sequences(text string) []uint32 {
	const prime = 16777619 // of FNV-1a
	text = text[:min(len(text), compared)]
	sums := make([]uint32, 0, compared/(sequence*sampled))
	var words [sequence]uint32 // hashes of the last words, in turn
	count, hash := 0, uint32(0)
	for i := range len(text) + 1 {
		if i < len(text) && text[i] > ' ' {
			hash = (hash ^ uint32(text[i])) * prime
			continue
		}
		if hash == 0 {
			continue
		}
		words[count%sequence] = hash
		hash = 0
		if count++; count < sequence {
			continue
		}
		sum := uint32(0)
		for k := range sequence {
			sum = (sum ^ words[(count+k)%sequence]) * prime
		}
		if sum%sampled == 0 {
			sums = append(sums, sum)
		}
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
