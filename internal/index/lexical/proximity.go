package lexical

import (
	"math"
	"math/bits"
)

// addProximity sets Hit.Proximity of the candidates, which are in storage order. It sums
// over pairs of query words, weighted by the inverse square root of their minimum
// distance: words ten positions apart are usually still about one subject. It adds the
// score of runs of words to Hit.Phrase.
func (x *Index) addProximity(terms []scoredTerm, found []*candidate, runWeight float64) error {
	own := make([]int, 0, len(terms))
	mask := uint64(0) // mask bits of own
	for i := range terms[:min(len(terms), maxMasked)] {
		if terms[i].fromQuery {
			own = append(own, i)
			mask |= 1 << i
		}
	}
	if len(own) < 2 || len(found) == 0 {
		return nil
	}
	var positions []uint32
	spans := make([][2]int, len(own)*len(found)) // range in positions of each candidate and own term
	for n, i := range own {
		t := &terms[i]
		t.rewind()
		for j := range found {
			c := found[j]
			if c.Terms>>i&1 == 0 || bits.OnesCount64(c.Terms&mask) < 2 {
				continue
			}
			from := len(positions)
			var err error
			if positions, err = x.positions(t.cursor, c.segment, c.ordinal, positions); err != nil {
				return err
			}
			spans[j*len(own)+n] = [2]int{from, len(positions)}
		}
	}
	whole := 0.
	for _, i := range own {
		whole += terms[i].massShare
	}
	r := newRuns(terms)
	for j := range found {
		sum := 0.
		for n, i := range own {
			a := spans[j*len(own)+n]
			r.add(&terms[i], n, positions[a[0]:a[1]])
		}
		found[j].Phrase += runWeight * r.take() / whole
		for n := range own {
			a := spans[j*len(own)+n]
			for m := n + 1; m < len(own); m++ {
				b := spans[j*len(own)+m]
				if d := minDistance(positions[a[0]:a[1]], positions[b[0]:b[1]]); d > 0 {
					sum += min(terms[own[n]].massShare, terms[own[m]].massShare) / math.Sqrt(float64(d))
				}
			}
		}
		found[j].Proximity = proximityWeight * min(1, sum/whole)
	}
	return nil
}

// positions appends the positions of the cursor's term in the passage to dst.
func (x *Index) positions(c *cursor, segment, at uint32, dst []uint32) ([]uint32, error) {
	ok, err := c.seek(segment)
	if err != nil || !ok || c.segments[c.at] != segment {
		return dst, err
	}
	locals, _, err := c.passagesOf(c.at)
	if err != nil {
		return dst, err
	}
	first, _, _, err := x.segment(segment)
	if err != nil {
		return dst, err
	}
	for j, local := range locals {
		if local == at-first {
			return c.positionsOf(dst, c.at, j)
		}
	}
	return dst, nil
}

// minDistance returns the minimum distance between an element of a and one of b, which are
// ascending, or 0 if one of them is empty.
func minDistance(a, b []uint32) uint32 {
	smallest := uint32(0)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		d := a[i] - b[j]
		if a[i] < b[j] {
			d = b[j] - a[i]
			i++
		} else {
			j++
		}
		if d > 0 && (smallest == 0 || d < smallest) {
			smallest = d
		}
	}
	return smallest
}

// runs finds the longest run of a query's words in a passage: words that have the same
// distances as in the query, as those of a pasted message or a quoted sentence. Other words
// may be between them, such as the values in a message.
type runs struct {
	last    int   // the last position in the query
	at      []run // by position in the passage minus position in the query plus last
	touched []int // indexes in at
}

type run struct {
	mass  float64 // of its words
	words int32
	term  int32 // number of its last term
}

const (
	// minRun is the minimum number of words of a run: fewer are often a coincidence. The
	// score grows with their number up to fullRun.
	minRun  = 3
	fullRun = 7
	// maxRunPosition limits the memory for very long passages.
	maxRunPosition = 1 << 16
)

func newRuns(terms []scoredTerm) runs {
	r := runs{}
	for i := range terms {
		for _, place := range terms[i].places {
			r.last = max(r.last, place)
		}
	}
	return r
}

// add adds the n-th term with its positions in the passage.
func (r *runs) add(t *scoredTerm, n int, positions []uint32) {
	for _, place := range t.places {
		for _, p := range positions {
			if p >= maxRunPosition {
				break
			}
			i := int(p) + r.last - place
			if i >= len(r.at) {
				r.at = append(r.at, make([]run, i+1-len(r.at))...)
			}
			at := &r.at[i]
			if at.words == 0 {
				r.touched = append(r.touched, i)
			}
			if at.words == 0 || at.term != int32(n) {
				at.words, at.term = at.words+1, int32(n)
			}
			at.mass += t.massShare / float64(len(t.places))
		}
	}
}

// take returns the mass of the best run, less for few words, and removes all runs.
func (r *runs) take() float64 {
	best := 0.
	for _, i := range r.touched {
		if at := &r.at[i]; at.words >= minRun {
			best = max(best, at.mass*min(1, float64(at.words-1)/(fullRun-1)))
		}
		r.at[i] = run{}
	}
	r.touched = r.touched[:0]
	return best
}
