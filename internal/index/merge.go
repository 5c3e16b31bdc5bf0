package index

// Relevant is the confidence below which a database is said to have nothing
// to say to a person or an agent that asked. Who asked is better served by a
// doubtful passage than by none, so it is far below the hook's threshold.
const Relevant = 0.1

// crowding is by how much each hit already taken from a database lowers its
// next one.
const crowding = 0.85

// mentioned is the weight of hits that mention the name which is all of the query,
// if another database has a page about it.
const mentioned = 0.2

// A Merged is a hit among those of several databases.
type Merged struct {
	Hit
	From      int     // the result it is of
	Relevance float64 // what the hits of several databases are compared by
}

// Merge puts the hits of several databases into one order. Their scores do
// not compare, but how sure each database is of its best hit does: a hit's
// relevance is that, lowered as its score falls below the best's. Each hit
// taken from a database lowers its next one, so that a big database does not
// crowd out the only answer of a small one. Where one database has something
// relevant, those that have nothing bring no hits. A database with a page about the
// name that is all of the query goes before those that only mention the name.
func Merge(results []Result, topK int) []Merged {
	surest, pageAboutName := 0.0, false
	for _, r := range results {
		if len(r.Hits) > 0 {
			surest = max(surest, r.Confidence)
			pageAboutName = pageAboutName || r.signals.NamedPage
		}
	}
	next := make([]int, len(results))
	weight := make([]float64, len(results))
	for i, r := range results {
		weight[i] = 1
		if pageAboutName && !r.signals.NamedPage {
			weight[i] = mentioned
		}
		if surest >= Relevant && r.Confidence < Relevant && !r.signals.NamedPage {
			next[i] = len(r.Hits)
		}
	}
	var merged []Merged
	for len(merged) < topK {
		best, most := -1, 0.0
		for i, r := range results {
			if next[i] == len(r.Hits) {
				continue
			}
			if weighted := r.relevance(next[i]) * weight[i]; best < 0 || weighted > most {
				best, most = i, weighted
			}
		}
		if best < 0 {
			break
		}
		r := results[best]
		merged = append(merged, Merged{Hit: r.Hits[next[best]], From: best, Relevance: r.relevance(next[best])})
		next[best]++
		weight[best] *= crowding
	}
	return merged
}

// relevance is how sure the database is of its i-th hit.
func (r Result) relevance(i int) float64 {
	if best := r.Hits[0].Score; best > 0 {
		return r.Confidence * r.Hits[i].Score / best
	}
	return r.Confidence
}
