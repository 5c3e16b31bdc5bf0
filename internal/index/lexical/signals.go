package lexical

import "slices"

// Signals tell how well a query and what was found for it fit, from which the
// confidence in the best hit is reckoned. Shares are of the query's idf mass:
// what its words weigh together, a word that the index does not know counting
// as its rarest.
type Signals struct {
	Text             string  // of the query, without its wording and with misspelled words corrected
	Terms            int     // of the query, without stop words and what it is put with
	Unknown          int     // those of them that the index does not know
	Relaxed          bool    // a quoted phrase was not found, and taken as words
	Named            bool    // the query has a name of the database
	UnknownName      bool    // it has a name, such as min_length, that the index does not know
	TechnologyRarity float64 // idf of the technology named that the index speaks of least, of the rarest
	MeanEvidence     float64 // evidence of the terms: how much more common they are here than elsewhere
	LowestEvidence   float64 // evidence of the one that speaks most against the database
	KnownShare       float64 // share of the terms that the index knows
	Coverage         float64 // share of the terms that the best hit has
	RelativeScore    float64 // its words' score, in shares of about the greatest that the terms allow
	Proximity        float64 // how near to one another it has them

	TitleShare  float64 // share of the terms that its titles or headings have
	DefinesName bool    // it defines a name in the query
	NamedPage   bool    // a hit is of the page about the name that is all of the query

	Corrected          int // misspelled words
	Unrecognized       int // words that neither the index nor the background corpus has
	Version            versionRelation
	News               float64 // words that ask for news, prices, dates; less if the index has them often
	Opinion            float64 // words that ask for opinions or comparisons, likewise
	OtherSoftware      float64 // names of other software, likewise
	OtherSoftwareFirst float64 // the highest count of such a name in front of the database's own
}

// Features are the signals as numbers for a model to weigh: whether the query
// names this database, or something else; whether its words are those that
// the database is about; the hit itself. A query that names only another
// technology asks that one's documentation, however often this one mentions
// it; beside this database's own name it may be what the question is about.
func (s Signals) Features() []float64 {
	named, hit := number(s.Named), s.KnownShare*s.Coverage
	return []float64{
		named, number(s.UnknownName), number(s.TechnologyRarity > 0 && !s.Named), named * s.TechnologyRarity,
		s.MeanEvidence, named * s.MeanEvidence, s.LowestEvidence,
		hit, named * hit, s.RelativeScore, s.Proximity, s.TitleShare, number(s.DefinesName), number(s.NamedPage),
		number(s.Version == newerMajor), number(s.Version == newerMinor), number(s.Version == olderMajor), number(s.Version == olderMinor),
		min(2, s.News), s.Opinion, min(1, s.Opinion/max(1, float64(s.Terms))), s.OtherSoftware, s.OtherSoftwareFirst,
		float64(s.Corrected), float64(s.Unrecognized),
	}
}

// FeatureNames are the names of Features, as explanations print them.
var FeatureNames = [...]string{
	"database name", "unknown name", "other technology only", "other technology also",
	"term evidence", "term evidence with database name", "lowest term evidence",
	"terms in the best hit", "terms in the best hit with database name", "lexical score", "proximity", "terms in titles", "definition", "page about the name",
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

// signals tells how the best of what was found fits.
func (x *Index) signals(p *plan, terms []scoredTerm, stats termEvidence, found []candidate) Signals {
	s := Signals{Text: p.text, Terms: stats.words, Unknown: stats.unknown, Named: p.named, UnknownName: stats.unknownName,
		TechnologyRarity: stats.technologyRarity, LowestEvidence: stats.lowest,
		Version: p.intent.version, News: p.intent.news, Opinion: p.intent.opinion, OtherSoftware: p.intent.otherSoftware, OtherSoftwareFirst: p.intent.otherSoftwareFirst, Unrecognized: p.unknownWords}
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
		if t := &terms[i]; t.fromQuery {
			all += t.idfMass
			if i < maxMasked && best.mask>>i&1 == 1 {
				s.Coverage += t.idfMass
			}
		}
	}
	s.Coverage /= all
	s.RelativeScore = x.relativeScore(terms, best.wordScore)
	s.Proximity = best.Proximity / proximityWeight
	s.DefinesName = best.Definition > 0
	s.NamedPage = slices.ContainsFunc(found, func(c candidate) bool { return c.Definition > wholeBonus })
	s.TitleShare = x.titleMass(terms, best) / all
	return s
}

// maxSynonymShare limits how much synonyms count in the greatest score, in shares
// of the weight of the query's own words. No passage has all synonyms: without a
// limit, the more synonyms a query has, the weaker its best hit would seem. With
// .7 as many in-domain queries reach their thresholds as without synonyms, and no
// more out-of-domain queries.
const maxSynonymShare = .7

// relativeScore is a passage's score by words, divided by the greatest that the
// query's own words and synonyms within maxSynonymShare allow.
func (x *Index) relativeScore(terms []scoredTerm, raw uint32) float64 {
	own := 0. // share of the query's own words
	for i := range terms {
		if terms[i].fromQuery {
			own += terms[i].massShare
		}
	}
	if own == 0 {
		return 0 // synonyms alone are no evidence
	}
	greatest := scale * min(1, own*(1+maxSynonymShare))
	if !x.single {
		greatest *= sectionShare
	}
	return min(1, float64(raw)/greatest)
}

// titleMass returns the mass of the terms that a passage's titles and headings
// have.
func (x *Index) titleMass(terms []scoredTerm, c *candidate) float64 {
	lengths, err := x.lengths(c.ordinal)
	if err != nil {
		return 0
	}
	mass := 0.
	for i := range terms[:min(len(terms), maxMasked)] {
		t := &terms[i]
		if !t.fromQuery || c.mask>>i&1 == 0 {
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
