package lexical

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	// Weights of the words of a passage and of its page.
	sectionShare = .5
	pageShare    = .5
	// phraseBonus is the bonus of a passage that contains all preferred phrases.
	phraseBonus = .30
	// proximityWeight is the score of query words that are all adjacent.
	proximityWeight = .35
	// secondBestWeight is the share of the second-best passage's score that all passages
	// of a segment gain: a page with two matching passages is probably about the subject.
	secondBestWeight = .10
	// minPool is the minimum number of segments and passages that are ranked, positionsPerHit
	// the maximum number of candidates per hit whose positions are read, see rankWeights.
	// Larger pools do not change the first ten hits, or the first one.
	minPool         = 64
	positionsPerHit = 16
	// PerDocument is the number of hits per document before those of all others, unless the
	// database has few documents. With three, hits of one long page displace the page that answers.
	PerDocument = 2
	// windowSegments is the number of segments in a window of bestSegments.
	windowSegments = 2048
	// scale converts weights from 0 to 1 to integers, whose sum does not depend on the
	// order of addition.
	scale = 1 << 28
	// maxMasked is the number of terms with a bit in scoreTable.masks.
	maxMasked = 64
)

// A Hit is a search result with the components of its score.
type Hit struct {
	Passage    uint32
	Document   uint32
	Score      float64 // sum of the following
	Words      float64 // the query's words in the passage
	Page       float64 // the query's words in its document
	Proximity  float64 // distances of the query's words
	SecondBest float64 // bonus of the second-best passage in its segment
	Phrase     float64 // preferred phrases, and words of the query in its order
	Definition float64 // definition match: the passage defines a name in the query
	Prior      float64 // static prior: links, depth, version and length
	Terms      uint64  // the terms of the query that the passage contains, a bit each; see Signals.Weights and Signals.Names
	Beyond     bool    // beyond the quota of its document: it follows the hits within
}

// A scoredTerm is a query term that the index contains, with its postings.
type scoredTerm struct {
	queryTerm
	*cursor
	passageWeight, pageWeight uint32  // weights of the two impacts
	idfMass                   float64 // weight times idf
	rarity                    float64 // near 1 if rare both here and in the background corpus, near 0 if common
	massShare                 float64 // share of idfMass among the terms found
	bound                     uint32  // upper bound of its contribution in the current window
	nextBlock                 int     // first block that does not end before the window
}

// Search returns the best passages, best first, ties by passage number, and the signals
// for the confidence in the first. Hits beyond PerDocument of a document come last, unless
// the database has few documents or a Quota admits more.
func (x *Index) Search(q Query) ([]Hit, Signals, error) {
	if q.Limit <= 0 {
		return nil, Signals{}, nil
	}
	p, err := x.plan(&q)
	if err != nil {
		return nil, Signals{}, err
	}
	return x.searchRelaxed(&q, &p)
}

// searchRelaxed searches without the quotes of phrases if no passage has all phrases.
func (x *Index) searchRelaxed(q *Query, p *plan) ([]Hit, Signals, error) {
	hits, s, err := x.search(q, p)
	if err == nil && len(hits) == 0 && p.relax() {
		hits, s, err = x.search(q, p)
		s.Relaxed = len(hits) > 0
	}
	if err == nil && len(hits) == 0 && p.include() {
		var excluded []Hit
		if excluded, _, err = x.search(q, p); len(excluded) > 0 {
			s.Excluding = strings.Join(p.exclusions, " ")
		}
	}
	return hits, s, err
}

// plan analyzes a query after removing framing words (see Wording) and correcting
// misspelled ones.
func (x *Index) plan(q *Query) (plan, error) {
	in, err := x.interpret(q)
	if err != nil {
		return plan{}, err
	}
	spelled, err := x.respell(in.text, q.Names)
	if err != nil {
		return plan{}, err
	}
	if spelled.text, err = x.padNumbers(spelled.text, q.Names); err != nil {
		return plan{}, err
	}
	short := *q
	short.Text = spelled.text
	var lookupErr error
	p := x.analyzer.plan(&short, x.knows(&lookupErr))
	p.intent, p.named = in, p.named || q.Named
	if in.release != "" {
		p.terms = append(p.terms, queryTerm{term: in.release, weight: releaseBonus, symbol: true})
	}
	for i := range p.terms {
		t := &p.terms[i]
		if written, ok := spelled.misspelled[t.term]; ok && t.fromQuery {
			t.misspelled, t.weight = written, correctedWeight*t.weight
		}
	}
	p.text, p.unknownWords = spelled.text, spelled.unknown
	return p, lookupErr
}

// knows returns a predicate for exact names in the index. It stores the first error in
// err.
func (x *Index) knows(err *error) func(string) bool {
	return func(name string) bool {
		_, _, found, findErr := x.dictionary.find(exactTerm(exactMark, name))
		*err = cmp.Or(*err, findErr)
		return found
	}
}

// relax removes the constraints of quoted phrases. It returns false if there are none.
func (p *plan) relax() bool {
	n := len(p.constraints)
	p.constraints = slices.DeleteFunc(p.constraints, func(d phraseConstraint) bool { return d.quoted })
	return len(p.constraints) < n
}

// include removes the constraints that exclude passages. It returns false if there are none.
func (p *plan) include() bool {
	n := len(p.constraints)
	p.constraints = slices.DeleteFunc(p.constraints, func(d phraseConstraint) bool { return d.not })
	return len(p.constraints) < n
}

func (x *Index) search(q *Query, p *plan) ([]Hit, Signals, error) {
	terms, stats, err := x.openTerms(p)
	if err != nil || len(terms) == 0 {
		return nil, x.signals(p, nil, stats, nil), err
	}
	matchers, possible, err := x.openConstraints(p.constraints)
	if err != nil || !possible {
		return nil, x.signals(p, terms, stats, nil), err
	}
	phrases, _, err := x.openConstraints(p.phrases)
	if err != nil {
		return nil, Signals{}, err
	}
	f := &filter{index: x, accept: q.Accept, matchers: matchers}
	pool := max(q.Limit, minPool)
	for want := pool; ; want *= 4 {
		segments, more, err := x.bestSegments(terms, want, f)
		if err != nil {
			return nil, Signals{}, err
		}
		table, err := x.scoreSegments(terms, segments)
		if err != nil {
			return nil, Signals{}, err
		}
		if table.oneOfFamily = x.HasFamilies(); table.oneOfFamily {
			if err := x.addBonuses(q, table); err != nil {
				return nil, Signals{}, err
			}
		}
		weights := questionWeights
		if p.isMessage {
			weights = messageWeights
		}
		found, err := x.rank(q, terms, phrases, table, f, weights, max(q.PerDocument, x.PerDocument()))
		if err != nil {
			return nil, Signals{}, err
		}
		if more && f.isActive() && (len(found) < q.Limit || found[q.Limit-1].Beyond) {
			// The filter rejected too many of the best segments.
			continue
		}
		if more && table.others > 0 && len(found) < min(q.Limit, minPool/4) {
			continue // too many of them were of a few families
		}
		stats.unknownName = stats.unknownName || hasUnknownName(p, phrases)
		return hitsOf(found), x.signals(p, terms, stats, found), nil
	}
}

func hitsOf(found []candidate) []Hit {
	hits := make([]Hit, len(found))
	for i := range found {
		hits[i] = found[i].Hit
	}
	return hits
}

// Frequency returns the number of passages that contain a word, in any inflection.
func (x *Index) Frequency(word string) (int, error) {
	highest := 0
	for _, term := range x.analyzer.Terms(word) {
		l, _, err := x.postingList(term)
		if err != nil {
			return 0, err
		}
		highest = max(highest, l.passageFrequency)
	}
	return highest, nil
}

// hasUnknownName reports whether the query has a compound name that none of the best
// candidates contains.
func hasUnknownName(p *plan, phrases []phraseMatcher) bool {
	names, met := 0, 0
	for _, d := range p.phrases {
		if d.name {
			names++
		}
	}
	for _, c := range phrases {
		if c.name && c.matched {
			met++
		}
	}
	return met < names
}

// termEvidence accumulates statistics of the query's own terms, above all how much more
// frequent each is in this index than in the background corpus.
type termEvidence struct {
	words, unknown       int      // number of terms that are not composite
	total                float64  // of the words' evidence
	lowest               float64  // evidence of a word
	idfMass, unknownMass float64  // total idf of the words, and of those not in the index
	technologyRarity     float64  // the highest idf of a technology's name, divided by the maximum idf
	unknownName          bool     // a name in the query is not in the index
	missing              []string // see Demands.Missing
	// See Rare.
	knownRarity, unknownRarity float64
}

// minMissingRarity is the rarity of a word above which few other documentation contains it.
const minMissingRarity = .9

// add records a term with document frequency passages. common is the term's share of the
// background corpus. If guessed is set, a term with document frequency 0 is ignored,
// because keywords from an agent may not occur in the documentation.
func (w *termEvidence) add(x *Index, t *queryTerm, passages int, common float64, guessed bool) {
	if !t.fromQuery || guessed && passages == 0 && !t.technology {
		return
	}
	weight := idf(passages, x.passageCount)
	if t.technology {
		w.technologyRarity = max(w.technologyRarity, weight/idf(0, x.passageCount))
	}
	if t.composite {
		// The parts of a composite term are counted themselves.
		w.unknownName = w.unknownName || passages == 0 && !t.technology && t.term[0] == exactMark
		return
	}
	e := 0.
	// Single letters are ambiguous, and the background corpus has no operators.
	if len(t.term) > 1 && t.term[0] != symbolMark {
		e = evidence(common, passages, x.passageCount)
	}
	if w.words == 0 {
		w.lowest = e
	}
	w.words++
	w.total += e
	w.lowest = min(w.lowest, e)
	w.idfMass += t.weight * weight
	if passages == 0 {
		if backgroundRarity(common) > minMissingRarity && t.term[0] != symbolMark {
			w.missing = append(w.missing, t.term)
		}
		w.unknown++
		w.unknownMass += t.weight * weight
	}
}

// openTerms opens the posting lists of the plan's terms and computes their weights.
func (x *Index) openTerms(p *plan) ([]scoredTerm, termEvidence, error) {
	var terms []scoredTerm
	var stats termEvidence
	rarities := make([]float64, len(p.terms))
	for i, t := range p.terms {
		l, found, err := x.postingList(t.term)
		if err != nil {
			return nil, stats, err
		}
		common := 0.
		if t.fromQuery && !t.composite {
			common = backgroundShare(t.term)
		}
		stats.add(x, &t, l.passageFrequency, common, p.hasKeywords)
		rarities[i] = idf(l.passageFrequency, x.passageCount)
		rarity := 0.
		if t.fromQuery && !t.composite {
			rarity = backgroundRarity(common)
		}
		if !found {
			stats.unknownRarity += rarity
			continue
		}
		rarity *= rarities[i] / idf(1, x.passageCount)
		stats.knownRarity += rarity
		terms = append(terms, scoredTerm{queryTerm: t, cursor: newCursor(l), rarity: rarity})
	}
	terms, err := x.addSynonyms(terms, p.expansions, rarities)
	if err != nil {
		return nil, stats, err
	}
	if terms, err = x.addAsked(terms, p.terms); err != nil {
		return nil, stats, err
	}
	words, pages := 0., 0.
	for i := range terms {
		if t := &terms[i]; !t.symbol {
			t.idfMass = t.weight * idf(t.passageFrequency, x.passageCount)
			words += t.idfMass
			pages += t.weight * idf(t.segmentFrequency, x.segmentCount)
		}
	}
	for i := range terms {
		t := &terms[i]
		switch {
		case t.symbol:
			t.passageWeight = x.levelWeight(t.weight)
		case x.single:
			t.massShare = t.idfMass / words
			t.passageWeight = x.levelWeight(t.massShare)
		default:
			t.massShare = t.idfMass / words
			t.passageWeight = x.levelWeight(sectionShare * t.massShare)
			t.pageWeight = x.levelWeight(pageShare * t.weight * idf(t.segmentFrequency, x.segmentCount) / pages)
		}
	}
	slices.SortStableFunc(terms, func(a, b scoredTerm) int { return cmp.Compare(b.massShare, a.massShare) })
	return terms, stats, nil
}

// levelWeight returns the weight of one unit of impact, so that the maximum impact
// contributes the share of scale.
func (x *Index) levelWeight(share float64) uint32 {
	return uint32(max(1, math.Round(share*scale/float64(dequantize(uint8(maxLevel(x.single)), x.single)))))
}
