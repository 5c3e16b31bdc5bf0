package lexical

import (
	"cmp"
	"math"
	"slices"
)

const (
	// A passage's own words weigh sectionShare, those of its page pageShare.
	sectionShare = .5
	pageShare    = .5
	// phraseBonus is what a passage gains that has all the quoted phrases that
	// are not demanded.
	phraseBonus = .30
	// proximityWeight is what words gain that stand next to one another.
	proximityWeight = .35
	// secondBestWeight is what of the second best passage's score all passages of a
	// unit gain: a page that speaks of the matter twice is about it.
	secondBestWeight = .10
	// minPool is how many units and passages are ranked, whatever the limit;
	// positionPool how many of them are read for proximity and phrases. More does
	// not change the first ten.
	minPool      = 64
	positionPool = 40
	// PerDocument is how many hits one document gives, unless the database
	// has few documents: with a third, hits of one long page crowd out the page
	// that answers.
	PerDocument = 2
	// windowSegments is how many units are scored at a time.
	windowSegments = 2048
	// scale turns weights of 0 to 1 into integers, whose sums do not depend on
	// the order of adding.
	scale = 1 << 28
	// maxMasked is how many terms are told apart within a passage.
	maxMasked = 64
)

// A Hit is a passage found, and what its score is made of.
type Hit struct {
	Passage    uint32
	Document   uint32
	Score      float64 // the sum of the following
	Words      float64 // the query's words in the passage
	Page       float64 // and in its document
	Proximity  float64 // how near to one another
	SecondBest float64 // of the second best passage there
	Phrase     float64 // the query's quoted phrases
	Definition float64 // the passage defines a name that the query asks for
	Prior      float64 // links, place and length of the passage, whatever is asked
}

// A scored is a query's term that the index knows, with its postings.
type scoredTerm struct {
	queryTerm
	*cursor
	passageWeight, pageWeight uint32  // weights of the two impacts
	idfMass                   float64 // its weight times its idf
	rarity                    float64 // about 1 where it is rare here and elsewhere, next to 0 where it is common
	massShare                 float64 // the same, of all the known terms'
	bound                     uint32  // greatest score in the window at work
	nextBlock                 int     // the first block that does not end before the window
}

// Search returns the best passages first, equals in the order of their
// numbers; at most two per document, more only where the database has few
// documents.
func (x *Index) Search(q Query) ([]Hit, Signals, error) {
	if q.Limit <= 0 {
		return nil, Signals{}, nil
	}
	p, err := x.plan(&q)
	if err != nil {
		return nil, Signals{}, err
	}
	hits, s, err := x.search(&q, &p)
	if err == nil && len(hits) == 0 && p.relax() {
		hits, s, err = x.search(&q, &p)
		s.Relaxed = len(hits) > 0
	}
	return hits, s, err
}

// plan prepares a query, its text without its wording.
func (x *Index) plan(q *Query) (plan, error) {
	in, err := x.interpret(q)
	if err != nil {
		return plan{}, err
	}
	spelled, err := x.respell(in.text, q.Names)
	if err != nil {
		return plan{}, err
	}
	short := *q
	short.Text = spelled.text
	var lookupErr error
	p := x.analyzer.plan(&short, x.knows(&lookupErr))
	p.intent, p.named = in, p.named || q.Named
	for i := range p.terms {
		t := &p.terms[i]
		if written, ok := spelled.misspelled[t.term]; ok && t.fromQuery {
			t.misspelled, t.weight = written, correctedWeight*t.weight
		}
	}
	p.text, p.unknownWords = spelled.text, spelled.unknown
	return p, lookupErr
}

// knows tells whether the index has a name taken whole. It keeps the first
// error in err.
func (x *Index) knows(err *error) func(string) bool {
	return func(name string) bool {
		_, _, found, findErr := x.dictionary.find(exactTerm(exactMark, name))
		*err = cmp.Or(*err, findErr)
		return found
	}
}

// relax drops the demands that only quoting made, and tells whether there
// were any.
func (p *plan) relax() bool {
	n := len(p.constraints)
	p.constraints = slices.DeleteFunc(p.constraints, func(d phraseConstraint) bool { return d.quoted })
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
	f := &filter{x: x, accept: q.Accept, matchers: matchers}
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
		found, err := x.rank(q, terms, phrases, table, f, x.maxPerDocument())
		if err != nil {
			return nil, Signals{}, err
		}
		if more && f.isActive() && len(found) < q.Limit {
			// The filter left too little of the best units.
			continue
		}
		stats.unknownName = stats.unknownName || hasUnknownName(p, phrases)
		hits := make([]Hit, len(found))
		for i := range found {
			hits[i] = found[i].Hit
		}
		return hits, x.signals(p, terms, stats, found), nil
	}
}

// Frequency is how many passages have a word, in whatever form of it.
func (x *Index) Frequency(word string) (int, error) {
	most := 0
	for _, term := range x.analyzer.Terms(word) {
		l, _, err := x.postingList(term)
		if err != nil {
			return 0, err
		}
		most = max(most, l.passageCount)
	}
	return most, nil
}

// hasUnknownName tells whether the query has a compound name that no passage has,
// as far as the best ones tell.
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

// A testimony is what the query's own terms, all by themselves, say of it and
// the index.
type termEvidence struct {
	words, unknown       int     // terms, but for those made of others
	total                float64 // of the words' evidence
	lowest               float64 // evidence of a word
	idfMass, unknownMass float64 // idf of the words, and of those the index does not know
	technologyRarity     float64 // idf of the technology named that is the rarest here, of the rarest possible
	unknownName          bool    // the index does not know a name in it
	// See Rare.
	knownRarity, unknownRarity float64
}

// add adds the evidence of a term that so many passages have. common is the
// term's share of the background corpus. With guessed set, a term without
// passages adds nothing: keywords are guesses at the documentation's words, and
// not all guesses are right.
func (w *termEvidence) add(x *Index, t *queryTerm, passages int, common float64, guessed bool) {
	if !t.fromQuery || guessed && passages == 0 && !t.technology {
		return
	}
	weight := idf(passages, x.passageCount)
	if t.technology {
		w.technologyRarity = max(w.technologyRarity, weight/idf(0, x.passageCount))
	}
	if t.composite {
		// A word made of others, whose parts are heard, too.
		w.unknownName = w.unknownName || passages == 0 && !t.technology && t.term[0] == exactMark
		return
	}
	e := 0.
	// A letter stands for anything, and the background corpus has no operators.
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
		w.unknown++
		w.unknownMass += t.weight * weight
	}
}

// openTerms opens the postings of the plan's terms and weighs them.
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
		stats.add(x, &t, l.passageCount, common, p.hasKeywords)
		rarities[i] = idf(l.passageCount, x.passageCount)
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
	words, pages := 0., 0.
	for i := range terms {
		if t := &terms[i]; !t.symbol {
			t.idfMass = t.weight * idf(t.passageCount, x.passageCount)
			words += t.idfMass
			pages += t.weight * idf(t.segmentCount, x.segmentCount)
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
			t.pageWeight = x.levelWeight(pageShare * t.weight * idf(t.segmentCount, x.segmentCount) / pages)
		}
	}
	slices.SortStableFunc(terms, func(a, b scoredTerm) int { return cmp.Compare(b.massShare, a.massShare) })
	return terms, stats, nil
}

// levelWeight is what one level of an impact weighs, so that the greatest
// is the term's share of scale.
func (x *Index) levelWeight(share float64) uint32 {
	return uint32(max(1, math.Round(share*scale/float64(dequantize(uint8(maxLevel(x.single)), x.single)))))
}
