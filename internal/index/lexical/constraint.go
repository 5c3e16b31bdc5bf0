package lexical

import (
	"slices"
	"strings"
)

// A Constraint applies the operators of a query to passages that are found by other means
// than Search, such as vector search.
type Constraint struct {
	// Text is Signals.Text without operators and excluded words.
	Text string
	// Accept reports whether a passage satisfies the operators and the query's own Accept;
	// nil: all passages do.
	Accept func(passage uint32) bool
}

// Constraint returns the constraint of a query for which Search returned the given
// signals. If the query was relaxed, quoted phrases are plain words.
func (x *Index) Constraint(q Query, s Signals) (Constraint, error) {
	var lookupErr error
	clauses := parse(s.Text, x.knows(&lookupErr))
	if lookupErr != nil || !slices.ContainsFunc(clauses, clause.isOperator) {
		return Constraint{s.Text, q.Accept}, lookupErr
	}
	p, err := x.plan(&q)
	if err != nil {
		return Constraint{}, err
	}
	if s.Relaxed {
		p.relax()
	}
	accept, err := x.constraintFilter(p.constraints, q.Accept)
	return Constraint{scoredText(clauses), accept}, err
}

// scoredText joins the clauses whose words are scored.
func scoredText(clauses []clause) string {
	var words []string
	for _, c := range clauses {
		if !c.not && c.field != "path" {
			words = append(words, c.text)
		}
	}
	return strings.Join(words, " ")
}

// constraintFilter returns a predicate for passages that satisfy accept, if not nil, and
// all constraints.
func (x *Index) constraintFilter(constraints []phraseConstraint, accept func(uint32) bool) (func(uint32) bool, error) {
	if len(constraints) == 0 {
		return accept, nil
	}
	matchers, possible, err := x.openConstraints(constraints)
	if err != nil {
		return nil, err
	}
	if !possible {
		return func(uint32) bool { return false }, nil
	}
	sets := make([]map[uint32]bool, len(matchers))
	for i := range matchers {
		if sets[i], err = x.phraseMatches(&matchers[i]); err != nil {
			return nil, err
		}
	}
	return func(passage uint32) bool {
		if accept != nil && !accept(passage) {
			return false
		}
		for i := range matchers {
			if sets[i][passage] == matchers[i].not {
				return false
			}
		}
		return true
	}, nil
}

// phraseMatches returns the passages that contain the phrase of c.
func (x *Index) phraseMatches(c *phraseMatcher) (map[uint32]bool, error) {
	set := make(map[uint32]bool)
	for segment := uint32(0); ; segment++ {
		found, err := c.seek(&segment)
		if err != nil || !found {
			return set, err
		}
		first, _, _, err := x.segment(segment)
		if err != nil {
			return nil, err
		}
		locals, _, err := c.cursors[0].passagesOf(c.cursors[0].at)
		if err != nil {
			return nil, err
		}
		// matchesPhrase makes the cursor overwrite locals.
		for _, local := range append([]uint32(nil), locals...) {
			at := first + local
			met, err := x.matchesPhrase(c, segment, at)
			if err != nil {
				return nil, err
			}
			if !met {
				continue
			}
			number, err := x.passageNumber(at)
			if err != nil {
				return nil, err
			}
			set[number] = true
		}
	}
}

// seek moves segment forward to the first that has all the words of c. It returns false if
// there is none.
func (c *phraseMatcher) seek(segment *uint32) (bool, error) {
	for i := 0; i < len(c.cursors); {
		cursor := c.cursors[i]
		found, err := cursor.seek(*segment)
		if err != nil || !found {
			return false, err
		}
		if next := cursor.segments[cursor.at]; next > *segment {
			*segment, i = next, 0
			continue
		}
		i++
	}
	return true, nil
}
