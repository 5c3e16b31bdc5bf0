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
	// restWeight is what of the second best passage's score all passages of a
	// unit gain: a page that speaks of the matter twice is about it.
	restWeight = .10
	// minPool is how many units and passages are ranked, whatever the limit;
	// closePool how many of them are read for proximity and phrases. More does
	// not change the first ten.
	minPool   = 64
	closePool = 40
	// PerDocument is how many hits one document gives, unless the database
	// has few documents: with a third, hits of one long page crowd out the page
	// that answers.
	PerDocument = 2
	// windowUnits is how many units are scored at a time.
	windowUnits = 2048
	// scale turns weights of 0 to 1 into integers, whose sums do not depend on
	// the order of adding.
	scale = 1 << 28
	// maxMasked is how many terms are told apart within a passage.
	maxMasked = 64
)

// A Hit is a passage found, and what its score is made of.
type Hit struct {
	Passage   uint32
	Document  uint32
	Score     float64 // the sum of the following
	Words     float64 // the query's words in the passage
	Page      float64 // and in its document
	Proximity float64 // how near to one another
	Rest      float64 // of the second best passage there
	Phrase    float64 // the query's quoted phrases
	Symbol    float64 // the passage defines a name that the query asks for
	Prior     float64 // links, place and length of the passage, whatever is asked
}

// A scored is a query's term that the index knows, with its postings.
type scored struct {
	queryTerm
	*cursor
	best, page uint32  // weights of the two impacts
	mass       float64 // its weight times its idf
	rarity     float64 // about 1 where it is rare here and elsewhere, next to 0 where it is common
	share      float64 // the same, of all the known terms'
	bound      uint32  // greatest score in the window at work
	reached    int     // the first block that does not end before the window
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
		if written, ok := spelled.misspelled[t.term]; ok && t.own {
			t.misspelled, t.weight = written, correctedWeight*t.weight
		}
	}
	p.text, p.undefined = spelled.text, spelled.undefined
	return p, lookupErr
}

// knows tells whether the index has a name taken whole. It keeps the first
// error in err.
func (x *Index) knows(err *error) func(string) bool {
	return func(name string) bool {
		_, _, found, findErr := x.words.find(exactTerm(exactMark, name))
		*err = cmp.Or(*err, findErr)
		return found
	}
}

// relax drops the demands that only quoting made, and tells whether there
// were any.
func (p *plan) relax() bool {
	n := len(p.demands)
	p.demands = slices.DeleteFunc(p.demands, func(d phraseConstraint) bool { return d.quoted })
	return len(p.demands) < n
}

func (x *Index) search(q *Query, p *plan) ([]Hit, Signals, error) {
	terms, said, err := x.openTerms(p)
	if err != nil || len(terms) == 0 {
		return nil, x.signals(p, nil, said, nil), err
	}
	checks, possible, err := x.openDemands(p.demands)
	if err != nil || !possible {
		return nil, x.signals(p, terms, said, nil), err
	}
	phrases, _, err := x.openDemands(p.phrases)
	if err != nil {
		return nil, Signals{}, err
	}
	f := &filter{x: x, accept: q.Accept, checks: checks}
	pool := max(q.Limit, minPool)
	for want := pool; ; want *= 4 {
		units, more, err := x.bestUnits(terms, want, f)
		if err != nil {
			return nil, Signals{}, err
		}
		field, err := x.score(terms, units)
		if err != nil {
			return nil, Signals{}, err
		}
		found, err := x.rank(q, terms, phrases, field, f, x.most())
		if err != nil {
			return nil, Signals{}, err
		}
		if more && f.active() && len(found) < q.Limit {
			// The filter left too little of the best units.
			continue
		}
		said.strange = said.strange || isStrange(p, phrases)
		hits := make([]Hit, len(found))
		for i := range found {
			hits[i] = found[i].Hit
		}
		return hits, x.signals(p, terms, said, found), nil
	}
}

// Frequency is how many passages have a word, in whatever form of it.
func (x *Index) Frequency(word string) (int, error) {
	most := 0
	for _, term := range x.analyzer.Terms(word) {
		l, _, err := x.list(term)
		if err != nil {
			return 0, err
		}
		most = max(most, l.passages)
	}
	return most, nil
}

// isStrange tells whether the query has a compound name that no passage has,
// as far as the best ones tell.
func isStrange(p *plan, phrases []phraseMatcher) bool {
	names, met := 0, 0
	for _, d := range p.phrases {
		if d.name {
			names++
		}
	}
	for _, c := range phrases {
		if c.name && c.met {
			met++
		}
	}
	return met < names
}

// A testimony is what the query's own terms, all by themselves, say of it and
// the index.
type termEvidence struct {
	words, unknown    int     // terms, but for those made of others
	sum               float64 // of the words' evidence
	least             float64 // evidence of a word
	mass, unknownMass float64 // idf of the words, and of those the index does not know
	elsewhere         float64 // idf of the technology named that is the rarest here, of the rarest possible
	strange           bool    // the index does not know a name in it
	// See Rare.
	knownRarity, unknownRarity float64
}

// add adds the evidence of a term that so many passages have. common is the
// term's share of the background corpus. With guessed set, a term without
// passages adds nothing: keywords are guesses at the documentation's words, and
// not all guesses are right.
func (w *termEvidence) add(x *Index, t *queryTerm, passages int, common float64, guessed bool) {
	if !t.own || guessed && passages == 0 && !t.named {
		return
	}
	weight := idf(passages, x.n)
	if t.named {
		w.elsewhere = max(w.elsewhere, weight/idf(0, x.n))
	}
	if t.whole {
		// A word made of others, whose parts are heard, too.
		w.strange = w.strange || passages == 0 && !t.named && t.term[0] == exactMark
		return
	}
	e := 0.
	// A letter stands for anything, and the background corpus has no operators.
	if len(t.term) > 1 && t.term[0] != symbolMark {
		e = evidence(common, passages, x.n)
	}
	if w.words == 0 {
		w.least = e
	}
	w.words++
	w.sum += e
	w.least = min(w.least, e)
	w.mass += t.weight * weight
	if passages == 0 {
		w.unknown++
		w.unknownMass += t.weight * weight
	}
}

// openTerms opens the postings of the plan's terms and weighs them.
func (x *Index) openTerms(p *plan) ([]scored, termEvidence, error) {
	var terms []scored
	var said termEvidence
	rarities := make([]float64, len(p.terms))
	for i, t := range p.terms {
		l, found, err := x.list(t.term)
		if err != nil {
			return nil, said, err
		}
		common := 0.
		if t.own && !t.whole {
			common = elsewhere(t.term)
		}
		said.add(x, &t, l.passages, common, p.guessed)
		rarities[i] = idf(l.passages, x.n)
		rarity := 0.
		if t.own && !t.whole {
			rarity = backgroundRarity(common)
		}
		if !found {
			said.unknownRarity += rarity
			continue
		}
		rarity *= rarities[i] / idf(1, x.n)
		said.knownRarity += rarity
		terms = append(terms, scored{queryTerm: t, cursor: newCursor(l), rarity: rarity})
	}
	terms, err := x.addSynonyms(terms, p.added, rarities)
	if err != nil {
		return nil, said, err
	}
	words, pages := 0., 0.
	for i := range terms {
		if t := &terms[i]; !t.symbol {
			t.mass = t.weight * idf(t.passages, x.n)
			words += t.mass
			pages += t.weight * idf(t.units, x.unitCount)
		}
	}
	for i := range terms {
		t := &terms[i]
		switch {
		case t.symbol:
			t.best = x.weight(t.weight)
		case x.single:
			t.share = t.mass / words
			t.best = x.weight(t.share)
		default:
			t.share = t.mass / words
			t.best = x.weight(sectionShare * t.share)
			t.page = x.weight(pageShare * t.weight * idf(t.units, x.unitCount) / pages)
		}
	}
	slices.SortStableFunc(terms, func(a, b scored) int { return cmp.Compare(b.share, a.share) })
	return terms, said, nil
}

// weight is what one level of an impact weighs, so that the greatest
// is the term's share of scale.
func (x *Index) weight(share float64) uint32 {
	return uint32(max(1, math.Round(share*scale/float64(degree(uint8(levels(x.single)), x.single)))))
}
