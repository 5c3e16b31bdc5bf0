package index

// Relevant is the confidence from which hits are shown to a person or an agent that
// searches explicitly. Such a searcher prefers a doubtful hit to none, so the value is
// far below the hook's threshold.
const Relevant = 0.1

// repeatPenalty is the factor by which each merged hit of a database lowers the weight
// of its next one.
const repeatPenalty = 0.85

// mentionWeight is the weight of hits that only mention a name, if the query is that
// name and another database has a page about it.
const mentionWeight = 0.2

// A Merged is a hit in the merged results of several databases.
type Merged struct {
	Hit
	From      int     // index of its result
	Relevance float64 // comparable between databases
}

// Merge merges the hits of several databases into one ranking. Scores of different
// databases are not comparable, but confidences are. The relevance of a hit is the
// database's confidence, scaled by the hit's score relative to the best hit.
//
// Each merged hit of a database lowers the weight of its next one, so that a large
// database does not displace the only answer of a small one. If one database has a
// relevant hit, databases without one contribute none. If the query is a name, a
// database with a page about it precedes databases that only mention it.
func Merge(results []Result, topK int) []Merged {
	maxConfidence, pageAboutName := 0.0, false
	for _, r := range results {
		if len(r.Hits) > 0 {
			maxConfidence = max(maxConfidence, r.Confidence)
			pageAboutName = pageAboutName || r.signals.NamedPage
		}
	}
	next := make([]int, len(results))
	weight := make([]float64, len(results))
	for i, r := range results {
		weight[i] = 1
		if pageAboutName && !r.signals.NamedPage {
			weight[i] = mentionWeight
		}
		if maxConfidence >= Relevant && r.Confidence < Relevant && !r.signals.NamedPage {
			next[i] = len(r.Hits)
		}
	}
	var merged []Merged
	for len(merged) < topK {
		best, maxWeighted := -1, 0.0
		for i, r := range results {
			if next[i] == len(r.Hits) {
				continue
			}
			if weighted := r.relevance(next[i]) * weight[i]; best < 0 || weighted > maxWeighted {
				best, maxWeighted = i, weighted
			}
		}
		if best < 0 {
			break
		}
		r := results[best]
		merged = append(merged, Merged{Hit: r.Hits[next[best]], From: best, Relevance: r.relevance(next[best])})
		next[best]++
		weight[best] *= repeatPenalty
	}
	return merged
}

// relevance returns the relevance of hit i (see Merge).
func (r Result) relevance(i int) float64 {
	if best := r.Hits[0].Score; best > 0 {
		return r.Confidence * r.Hits[i].Score / best
	}
	return r.Confidence
}
