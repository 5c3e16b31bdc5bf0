package lexical

import "slices"

// A filter selects the passages that may be hits.
type filter struct {
	index    *Index
	accept   func(uint32) bool
	matchers []phraseMatcher
}

// A phraseMatcher is a constraint with the posting lists of its words.
type phraseMatcher struct {
	phraseConstraint
	cursors []*cursor
	matched bool // some candidate contains the phrase
}

// openConstraints opens the posting lists of the constraints. It skips those with words
// that the index lacks, and returns false if one of them is required.
func (x *Index) openConstraints(constraints []phraseConstraint) ([]phraseMatcher, bool, error) {
	var matchers []phraseMatcher
	possible := true
	for _, d := range constraints {
		c := phraseMatcher{phraseConstraint: d}
		for _, w := range d.words {
			l, found, err := x.postingList(w.term)
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
			matchers = append(matchers, c)
		case !d.not:
			possible = false
		}
	}
	return matchers, possible, nil
}

// isActive reports whether the filter can reject a passage.
func (f *filter) isActive() bool { return f.accept != nil || len(f.matchers) > 0 }

func (f *filter) rewind() {
	for _, c := range f.matchers {
		for _, cursor := range c.cursors {
			cursor.rewind()
		}
	}
}

// mayAccept reports whether the filter may accept a passage of the segment. It has no
// false negatives. Segments must be in ascending order.
func (f *filter) mayAccept(segment uint32) (bool, error) {
	for _, c := range f.matchers {
		if c.not {
			continue
		}
		for _, cursor := range c.cursors {
			ok, err := cursor.seek(segment)
			if err != nil || !ok || cursor.segments[cursor.at] != segment {
				return false, err
			}
		}
	}
	if f.accept == nil {
		return true, nil
	}
	from, to, _, err := f.index.segment(segment)
	if err != nil {
		return false, err
	}
	for ordinal := from; ordinal < to; ordinal++ {
		n, err := f.index.passageNumber(ordinal)
		if err != nil {
			return false, err
		}
		if f.accept(n) {
			return true, nil
		}
	}
	return false, nil
}

// accepts reports whether the filter accepts a passage. Passages must be in ascending
// order after a rewind.
func (f *filter) accepts(segment, ordinal uint32) (bool, error) {
	if f.accept != nil {
		n, err := f.index.passageNumber(ordinal)
		if err != nil || !f.accept(n) {
			return false, err
		}
	}
	for i := range f.matchers {
		met, err := f.index.matchesPhrase(&f.matchers[i], segment, ordinal)
		if err != nil || met == f.matchers[i].not {
			return false, err
		}
	}
	return true, nil
}

// matchesPhrase reports whether the passage contains the phrase of c.
func (x *Index) matchesPhrase(c *phraseMatcher, segment, ordinal uint32) (bool, error) {
	positions := make([][]uint32, len(c.cursors))
	for i, cursor := range c.cursors {
		var err error
		if positions[i], err = x.positions(cursor, segment, ordinal, nil); err != nil || len(positions[i]) == 0 {
			return false, err
		}
	}
	info, err := x.lengths(ordinal)
	if err != nil {
		return false, err
	}
	for _, p := range positions[0] {
		if c.fields>>info.fieldOf(p)&1 == 0 {
			continue
		}
		row := true
		for i, w := range c.words[1:] {
			_, found := slices.BinarySearch(positions[i+1], p+w.offset)
			row = row && found && info.fieldOf(p+w.offset) == info.fieldOf(p)
		}
		if row {
			return true, nil
		}
	}
	return false, nil
}

// addPhrases sets Hit.Phrase of the candidates, which are in storage order: an equal share
// of phraseBonus for each phrase that they contain.
func (x *Index) addPhrases(phrases []phraseMatcher, found []*candidate) error {
	for i := range phrases {
		for _, c := range phrases[i].cursors {
			c.rewind()
		}
		for j := range found {
			met, err := x.matchesPhrase(&phrases[i], found[j].segment, found[j].ordinal)
			if err != nil {
				return err
			}
			if met {
				phrases[i].matched = true
				found[j].Phrase += phraseBonus / float64(len(phrases))
			}
		}
	}
	return nil
}
