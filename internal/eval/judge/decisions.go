package judge

import "slices"

// JSON output of eval for queries of which only the decision is judged.
type (
	// A DecisionScore counts the right decisions of a database.
	DecisionScore struct {
		Name        string `json:"name"` // "" for queries that search all databases
		Answerable  int    `json:"answerable"`
		Answered    int    `json:"answered"` // answerable queries with a confident result
		Others      int    `json:"others"`   // queries that it should not answer
		NotAnswered int    `json:"not_answered"`
	}
	decisionResult struct {
		queryResult
		Answer bool `json:"answer"` // judgment
	}
)

// addDecision adds the result of a query of which only the decision is judged.
func (out *Evaluation) addDecision(r queryResult, answerable bool) {
	out.DecisionResults = append(out.DecisionResults, decisionResult{r, answerable})
	at := slices.IndexFunc(out.Decisions, func(s DecisionScore) bool { return s.Name == r.Set })
	if at < 0 {
		at = len(out.Decisions)
		out.Decisions = append(out.Decisions, DecisionScore{Name: r.Set})
	}
	out.Decisions[at].add(answerable, r.Confident)
}

func (s *DecisionScore) add(answerable, confident bool) {
	switch {
	case answerable && confident:
		s.Answerable, s.Answered = s.Answerable+1, s.Answered+1
	case answerable:
		s.Answerable++
	case confident:
		s.Others++
	default:
		s.Others, s.NotAnswered = s.Others+1, s.NotAnswered+1
	}
}
