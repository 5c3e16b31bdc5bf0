package lexical

import (
	"cmp"
	"slices"
	"strings"
)

// Signals describe how well a query matches the index and the best hit. The confidence in
// the best hit is computed from them. Shares are of the query's total idf, in which a word
// that the index lacks counts as its rarest.
type Signals struct {
	Text             string  // of the query, without framing words and with misspelled words corrected
	Terms            int     // of the query, without stop words and question words
	Unknown          int     // terms that the index lacks
	Relaxed          bool    // a quoted phrase was not found and searched as words
	Excluding        string  // operators that exclude all hits, as written; empty if there are hits
	Named            bool    // the query names the database, or is an identifier that the best hit defines
	UnknownName      bool    // it contains a name, such as min_length, that the index lacks
	TechnologyRarity float64 // highest idf of another technology's name, divided by the maximum idf
	MeanEvidence     float64 // mean evidence of the terms, see evidence
	LowestEvidence   float64 // lowest evidence of a term
	KnownShare       float64 // share of the terms in the index
	Coverage         float64 // share of the terms in the best hit
	RelativeScore    float64 // lexical score of the best hit, divided by about the maximum for the terms
	Proximity        float64 // proximity of the terms in the best hit

	// Weights are those of the terms that the index contains, synonyms included, by their
	// bits in Hit.Terms.
	Weights []TermWeight
	// Names are the bits in Hit.Terms of the query's names. A passage that defines a name
	// has its bit.
	Names uint64

	TitleShare  float64 // share of the terms in the best hit's title and headings
	DefinesName bool    // the best hit defines a name in the query
	NamedPage   bool    // a hit is from the page about the name that is the whole query

	Corrected          int // misspelled words
	Unrecognized       int // words in neither the index nor the background corpus
	Demands            Demands
	Version            versionRelation
	News               float64 // words that ask for news, prices, dates; less if they are frequent in the index
	Opinion            float64 // words that ask for opinions or comparisons, likewise
	OtherSoftware      float64 // names of other software, likewise
	OtherSoftwareFirst float64 // the highest count of such a name before the database's own
}

// A TermWeight is the weight of a term of a query, or of a synonym, when a passage is
// shortened.
type TermWeight struct {
	// Start is how the words with the term start in the text that Fold returns. It is empty
	// for a name as a whole, see Signals.Names.
	Start string `json:"start"`
	// Weight is the term's idf times its weight in the query, relative to the highest of
	// the query's terms.
	Weight float64 `json:"weight"`
	// Share is the term's share of the query. Synonyms have none.
	Share float64 `json:"-"`
}

// Features returns the signals as features of the confidence model: whether the query
// names this database or others, whether its terms are typical of the index, and how well
// the best hit matches. A query that names only another technology is about that one,
// however often this database mentions it; next to this database's name it may be part of
// the subject.
func (s Signals) Features() []float64 {
	named, hit := number(s.Named), s.KnownShare*s.Coverage
	return []float64{
		named, number(s.UnknownName), number(s.TechnologyRarity > 0 && !s.Named), named * s.TechnologyRarity,
		s.MeanEvidence, named * s.MeanEvidence, s.LowestEvidence,
		hit, named * hit, s.RelativeScore, s.Proximity, s.TitleShare, number(s.DefinesName), number(s.NamedPage),
		number(s.Version == newerMajor), number(s.Version == newerMinor), number(s.Version == olderMajor),
		number(s.Version == olderMinor),
		min(2, s.News), s.Opinion, min(1, s.Opinion/max(1, float64(s.Terms))), s.OtherSoftware, s.OtherSoftwareFirst,
		float64(s.Corrected), float64(s.Unrecognized),
	}
}

// FeatureNames are the names of Features, as explanations print them.
var FeatureNames = [...]string{
	"database name", "unknown name", "other technology only", "other technology also",
	"term evidence", "term evidence with database name", "lowest term evidence",
	"terms in the best hit", "terms in the best hit with database name", "lexical score", "proximity",
	"terms in titles", "definition", "page about the name",
	"newer major version", "newer minor version", "older major version", "older minor version",
	"news terms", "opinion terms", "share of opinion terms", "other software", "other software first",
	"corrected terms", "unknown terms",
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// signals returns the signals of a query and its candidates, best first.
func (x *Index) signals(p *plan, terms []scoredTerm, stats termEvidence, found []candidate) Signals {
	s := Signals{Text: p.text, Terms: stats.words, Unknown: stats.unknown, Named: p.named,
		UnknownName:      stats.unknownName,
		TechnologyRarity: stats.technologyRarity, LowestEvidence: stats.lowest,
		Version: p.intent.version, News: p.intent.news, Opinion: p.intent.opinion,
		OtherSoftware: p.intent.otherSoftware, OtherSoftwareFirst: p.intent.otherSoftwareFirst,
		Unrecognized: p.unknownWords,
		Demands:      p.intent.demands}
	s.Demands.Missing = stats.missing
	for i := range p.terms {
		s.Corrected += int(number(p.terms[i].misspelled != ""))
	}
	if stats.words == 0 {
		return s
	}
	s.MeanEvidence = stats.total / float64(stats.words)
	s.KnownShare = (stats.idfMass - stats.unknownMass) / stats.idfMass
	if len(found) == 0 {
		return s
	}
	best := &found[0]
	all := stats.unknownMass
	for i := range terms {
		if terms[i].fromQuery {
			all += terms[i].idfMass
		}
	}
	s.Weights, s.Names = weightsOf(terms[:min(len(terms), maxMasked)], all), nameBits(terms)
	for i, w := range s.Weights {
		if best.Terms>>i&1 == 1 {
			s.Coverage += w.Share
		}
	}
	s.RelativeScore = x.relativeScore(terms, best.wordScore)
	s.Proximity = best.Proximity / proximityWeight
	s.DefinesName = best.Definition > 0
	s.NamedPage = slices.ContainsFunc(found, func(c candidate) bool { return float32(c.Definition) >= pageBonus })
	s.TitleShare = x.titleMass(terms, best) / all
	// A query that is an identifier names the database that defines it, perhaps with others in
	// one title. Definitions are compared without separators, but http_client is an unknown name
	// where there is only http.client.
	s.Named = s.Named || p.identifier && !s.UnknownName &&
		(float32(best.Definition) >= wholeBonus || s.TitleShare > .99)
	return s
}

// nameBits returns Signals.Names.
func nameBits(terms []scoredTerm) (names uint64) {
	for i := range terms[:min(len(terms), maxMasked)] {
		if terms[i].symbol {
			names |= 1 << i
		}
	}
	return names
}

// weightsOf returns Signals.Weights. all is the idf mass of the query.
func weightsOf(terms []scoredTerm, all float64) []TermWeight {
	list := make([]TermWeight, len(terms))
	most := 0.
	for i := range terms {
		most = max(most, terms[i].idfMass)
	}
	for i := range terms {
		t, w := &terms[i], &list[i]
		if t.symbol || t.asked {
			continue
		}
		w.Start, w.Weight = startOf(t.term), t.idfMass/cmp.Or(most, 1)
		if t.fromQuery {
			w.Share = t.idfMass / all
		}
	}
	return list
}

// startOf returns TermWeight.Start of a term. English stems end with i where the word has a
// y.
func startOf(term string) string {
	switch term[0] {
	case symbolMark:
		return term[len(operatorTerm("")):]
	case exactMark:
		return term[1:]
	}
	if len(term) > 3 {
		term = strings.TrimSuffix(term, "i")
	}
	return term
}

// maxSynonymShare limits the weight of synonyms in the maximum score, relative to the
// query's own words. No passage contains all synonyms: without a limit, the more synonyms
// a query has, the lower the relative score of its best hit. With .7 as many in-domain
// queries reach their thresholds as without synonyms, and no more out-of-domain queries.
const maxSynonymShare = .7

// relativeScore returns a passage's lexical score divided by the maximum for the query's
// own words and synonyms up to maxSynonymShare.
func (x *Index) relativeScore(terms []scoredTerm, raw uint32) float64 {
	own := 0. // share of the query's own words
	for i := range terms {
		if terms[i].fromQuery {
			own += terms[i].massShare
		}
	}
	if own == 0 {
		return 0 // synonyms alone are not evidence
	}
	maxScore := scale * min(1, own*(1+maxSynonymShare))
	if !x.single {
		maxScore *= sectionShare
	}
	return min(1, float64(raw)/maxScore)
}

// titleMass returns the total idf mass of the terms in a passage's title and headings.
func (x *Index) titleMass(terms []scoredTerm, c *candidate) float64 {
	lengths, err := x.lengths(c.ordinal)
	if err != nil {
		return 0
	}
	mass := 0.
	for i := range terms[:min(len(terms), maxMasked)] {
		t := &terms[i]
		if !t.fromQuery || c.Terms>>i&1 == 0 {
			continue
		}
		t.rewind()
		positions, err := x.positions(t.cursor, c.segment, c.ordinal, nil)
		if err != nil {
			return 0
		}
		n := lengths.countByField(positions)
		if n[fieldTitle]+n[fieldPath]+n[fieldPage] > 0 {
			mass += t.idfMass
		}
	}
	return mass
}
