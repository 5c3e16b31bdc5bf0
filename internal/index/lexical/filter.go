package lexical

import "slices"

// A filter is what passages must satisfy beside matching.
type filter struct {
	x      *Index
	accept func(uint32) bool
	checks []phraseMatcher
}

// A check is a demand with the postings of its words.
type phraseMatcher struct {
	phraseConstraint
	cursors []*cursor
	met     bool // by a passage that was looked at closely
}

// openDemands opens the postings that demands need, leaving out those that
// cannot be met; it returns false if there are any that should be.
func (x *Index) openDemands(demands []phraseConstraint) ([]phraseMatcher, bool, error) {
	var checks []phraseMatcher
	possible := true
	for _, d := range demands {
		c := phraseMatcher{phraseConstraint: d}
		for _, w := range d.words {
			l, found, err := x.list(w.term)
			if err != nil {
				return nil, false, err
			}
			if !found {
				c.cursors = nil
				break
			}
			c.cursors = append(c.cursors, newCursor(l))
		}
		switch {
		case c.cursors != nil:
			checks = append(checks, c)
		case !d.not:
			possible = false
		}
	}
	return checks, possible, nil
}

// active tells whether the filter can leave anything out.
func (f *filter) active() bool { return f.accept != nil || len(f.checks) > 0 }

func (f *filter) rewind() {
	for _, c := range f.checks {
		for _, cursor := range c.cursors {
			cursor.rewind()
		}
	}
}

// admits tells whether a passage of the unit may be accepted. Units must come
// in ascending order.
func (f *filter) admits(unit uint32) (bool, error) {
	for _, c := range f.checks {
		if c.not {
			continue
		}
		for _, cursor := range c.cursors {
			ok, err := cursor.seek(unit)
			if err != nil || !ok || cursor.unit[cursor.at] != unit {
				return false, err
			}
		}
	}
	if f.accept == nil {
		return true, nil
	}
	from, to, _, err := f.x.unit(unit)
	if err != nil {
		return false, err
	}
	for at := from; at < to; at++ {
		n, err := f.x.number(at)
		if err != nil {
			return false, err
		}
		if f.accept(n) {
			return true, nil
		}
	}
	return false, nil
}

// accepts tells whether the passage that lies at at passes. Passages must come
// in ascending order after a rewind.
func (f *filter) accepts(unit, at uint32) (bool, error) {
	if f.accept != nil {
		n, err := f.x.number(at)
		if err != nil || !f.accept(n) {
			return false, err
		}
	}
	for i := range f.checks {
		met, err := f.x.met(&f.checks[i], unit, at)
		if err != nil || met == f.checks[i].not {
			return false, err
		}
	}
	return true, nil
}

// met tells whether the words of c stand in a row somewhere in the passage.
func (x *Index) met(c *phraseMatcher, unit, at uint32) (bool, error) {
	positions := make([][]uint32, len(c.cursors))
	for i, cursor := range c.cursors {
		var err error
		if positions[i], err = x.positions(cursor, unit, at, nil); err != nil || len(positions[i]) == 0 {
			return false, err
		}
	}
	info, err := x.lengths(at)
	if err != nil {
		return false, err
	}
	for _, p := range positions[0] {
		if c.fields>>info.fieldOf(p)&1 == 0 {
			continue
		}
		row := true
		for i, w := range c.words[1:] {
			_, found := slices.BinarySearch(positions[i+1], p+w.place)
			row = row && found && info.fieldOf(p+w.place) == info.fieldOf(p)
		}
		if row {
			return true, nil
		}
	}
	return false, nil
}

// phrases fills in which of the candidates have the phrases, each a share of
// the bonus. Candidates are in the order in which they lie.
func (x *Index) phrases(phrases []phraseMatcher, found []*candidate) error {
	for i := range phrases {
		for _, c := range phrases[i].cursors {
			c.rewind()
		}
		for j := range found {
			met, err := x.met(&phrases[i], found[j].unit, found[j].at)
			if err != nil {
				return err
			}
			if met {
				phrases[i].met = true
				found[j].Phrase += phraseBonus / float64(len(phrases))
			}
		}
	}
	return nil
}
