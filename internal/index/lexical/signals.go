package lexical

// Signals tell how well a query and an index fit, from which the confidence
// in the best hit is reckoned.
type Signals struct {
	Terms    int     // content terms of the query that the index knows
	Unknown  int     // and that it does not
	Coverage float64 // share of the query's idf that the best hit covers
	Strength float64 // its score, of the greatest that the terms allow
	Gap      float64 // what it is ahead of the next document
	Relaxed  bool    // a quoted phrase was not found and taken as words
}

// Features are the signals as numbers, for a model to weigh.
func (s Signals) Features() []float64 {
	return []float64{float64(s.Terms), float64(s.Unknown), s.Coverage, s.Strength, s.Gap}
}

func (x *Index) signals(terms []scored, found []candidate) Signals {
	var s Signals
	for i := range terms {
		if terms[i].own {
			s.Terms++
		}
	}
	if len(found) == 0 {
		return s
	}
	best := &found[0]
	own := 0.
	for i := range terms {
		if terms[i].own {
			own += terms[i].share
			if i < maxMasked && best.mask>>i&1 == 1 {
				s.Coverage += terms[i].share
			}
		}
	}
	if own > 0 {
		s.Coverage /= own
	}
	s.Strength = float64(best.raw) / (255 * scale)
	return s
}
