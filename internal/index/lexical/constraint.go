package lexical

import "strings"

// A Constraint is what a query's operators demand of every passage, for
// passages that are found in another way than by Search.
type Constraint struct {
	// Text is the query's text as Signals has it, without its operators and the
	// words that passages must not have.
	Text string
	// Accept reports whether a passage meets the demands and the query's own
	// Accept; nil: all do.
	Accept func(passage uint32) bool
}

// Constraint returns the demands of a query that Search gave these signals for. If
// they say that the query was relaxed, quoted phrases are plain words.
func (x *Index) Constraint(q Query, s Signals) (Constraint, error) {
	var lookupErr error
	clauses := parse(s.Text, x.knows(&lookupErr))
	if lookupErr != nil || !hasOperators(clauses) {
		return Constraint{s.Text, q.Accept}, lookupErr
	}
	p, err := x.plan(&q)
	if err != nil {
		return Constraint{}, err
	}
	if s.Relaxed {
		p.relax()
	}
	accept, err := x.meeting(p.demands, q.Accept)
	return Constraint{scoredText(clauses), accept}, err
}

func hasOperators(clauses []clause) bool {
	for _, c := range clauses {
		if c.field != "" || c.quoted || c.not {
			return true
		}
	}
	return false
}

// scoredText joins the clauses whose words passages are scored by.
func scoredText(clauses []clause) string {
	var words []string
	for _, c := range clauses {
		if !c.not && c.field != "path" {
			words = append(words, c.text)
		}
	}
	return strings.Join(words, " ")
}

// meeting returns the test for passages that accept, if not nil, lets through
// and that meet all the demands.
func (x *Index) meeting(demands []phraseConstraint, accept func(uint32) bool) (func(uint32) bool, error) {
	if len(demands) == 0 {
		return accept, nil
	}
	checks, possible, err := x.openDemands(demands)
	if err != nil {
		return nil, err
	}
	if !possible {
		return func(uint32) bool { return false }, nil
	}
	sets := make([]map[uint32]bool, len(checks))
	for i := range checks {
		if sets[i], err = x.allMeeting(&checks[i]); err != nil {
			return nil, err
		}
	}
	return func(passage uint32) bool {
		if accept != nil && !accept(passage) {
			return false
		}
		for i := range checks {
			if sets[i][passage] == checks[i].not {
				return false
			}
		}
		return true
	}, nil
}

// allMeeting returns the passages that have the words of c in a row.
func (x *Index) allMeeting(c *phraseMatcher) (map[uint32]bool, error) {
	set := make(map[uint32]bool)
	for unit := uint32(0); ; unit++ {
		found, err := c.seek(&unit)
		if err != nil || !found {
			return set, err
		}
		first, _, _, err := x.unit(unit)
		if err != nil {
			return nil, err
		}
		locals, _, err := c.cursors[0].passagesOf(c.cursors[0].at)
		if err != nil {
			return nil, err
		}
		// met makes the cursor read its passages again, into the same place.
		for _, local := range append([]uint32(nil), locals...) {
			at := first + local
			met, err := x.met(c, unit, at)
			if err != nil {
				return nil, err
			}
			if !met {
				continue
			}
			number, err := x.number(at)
			if err != nil {
				return nil, err
			}
			set[number] = true
		}
	}
}

// seek moves unit forward to the first that has all the words of c, and reports
// whether there is one.
func (c *phraseMatcher) seek(unit *uint32) (bool, error) {
	for i := 0; i < len(c.cursors); {
		cursor := c.cursors[i]
		found, err := cursor.seek(*unit)
		if err != nil || !found {
			return false, err
		}
		if next := cursor.unit[cursor.at]; next > *unit {
			*unit, i = next, 0
			continue
		}
		i++
	}
	return true, nil
}
