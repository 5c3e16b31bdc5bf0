package lexical

import "math"

// Signals tell how well a query and what was found for it fit, from which the
// confidence in the best hit is reckoned. Shares are of the query's idf mass:
// what its words weigh together, a word that the index does not know counting
// as its rarest. All but the first three are from 0 to 1.
type Signals struct {
	Terms     int     // of the query, without stop words
	Unknown   int     // those of them that the index does not know
	Relaxed   bool    // a quoted phrase was not found, and taken as words
	Named     float64 // 1: the query has a name of the database
	Elsewhere float64 // idf of the technology named that the index speaks of least, of the rarest
	Topic     float64 // how common the most common term is
	Common    float64 // how common the terms are on average
	Known     float64 // share of the terms that the index knows
	Coverage  float64 // share of the terms that the best hit has
	Strength  float64 // its words' score, of the greatest that the terms allow
	Proximity float64 // how near to one another it has them
}

// Features are the signals as numbers for a model to weigh. What counts most
// is whether the query names this database, or something else; then whether
// its words are those that the database is about; then the hit itself.
func (s Signals) Features() []float64 {
	return []float64{s.Named, s.Elsewhere, s.Topic, s.Common, s.Known * s.Coverage, s.Strength, s.Proximity}
}

// signals tells how the best of what was found fits. Its terms' share that the
// index does not know is in absent.
func (x *Index) signals(p *plan, terms []scored, absent absence, found []candidate) Signals {
	s := Signals{Terms: absent.terms, Unknown: absent.terms, Elsewhere: absent.elsewhere}
	if p.named {
		s.Named = 1
	}
	rarest := idf(0, x.n)
	mass, single, weight := absent.mass, absent.mass, absent.weight
	for i := range terms {
		t := &terms[i]
		if !t.own {
			continue
		}
		s.Terms++
		mass += t.mass
		rare := t.mass / t.weight / rarest
		if !t.whole {
			single, weight = single+t.mass, weight+t.weight
			s.Topic = max(s.Topic, 1-rare)
		}
		if t.named {
			s.Elsewhere = max(s.Elsewhere, rare)
		}
		if len(found) > 0 && i < maxMasked && found[0].mask>>i&1 == 1 {
			s.Coverage += t.mass
		}
	}
	if mass == 0 || weight == 0 {
		return s
	}
	s.Common = 1 - single/weight/rarest
	s.Known = (mass - absent.mass) / mass
	s.Coverage /= mass
	if len(found) > 0 {
		share := sectionShare
		if x.single {
			share = 1
		}
		s.Strength = float64(found[0].raw) / (math.MaxUint8 * scale * share)
		s.Proximity = found[0].Proximity / proximityWeight
	}
	return s
}
