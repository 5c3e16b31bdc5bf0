package lexical

// A Quota limits the hits of each document: to a number, and then to as many again that
// define a name of the query that none before does. So a query with several names of one
// page finds all of them.
type Quota struct {
	perDocument int
	names       uint64
	used        map[uint32]quotaUse // by document
}

type quotaUse struct {
	hits  int
	terms uint64
}

// NewQuota returns a quota of perDocument hits. names are those of Signals.Names.
func NewQuota(perDocument int, names uint64) *Quota {
	return &Quota{perDocument, names, make(map[uint32]quotaUse)}
}

// Admits reports whether one more hit is within the quota of its document.
func (q *Quota) Admits(h *Hit) bool {
	u := q.used[h.Document]
	return u.hits < q.perDocument || u.hits < 2*q.perDocument && h.Terms&q.names&^u.terms != 0
}

// Add counts a hit.
func (q *Quota) Add(h *Hit) {
	u := q.used[h.Document]
	q.used[h.Document] = quotaUse{u.hits + 1, u.terms | h.Terms}
}

// capPerDocument returns the first n of found that the documents' quotas admit. If there are fewer, the
// best of the others follow.
func capPerDocument(found []candidate, names uint64, n, perDocument int) []candidate {
	quota := NewQuota(perDocument, names)
	kept := found[:0]
	var beyond []candidate
	for _, c := range found {
		if len(kept) == n {
			break
		}
		if c.Beyond = !quota.Admits(&c.Hit); c.Beyond {
			beyond = append(beyond, c)
			continue
		}
		quota.Add(&c.Hit)
		kept = append(kept, c)
	}
	return append(kept, beyond[:min(len(beyond), n-len(kept))]...)
}
