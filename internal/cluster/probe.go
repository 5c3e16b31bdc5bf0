package cluster

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// PruningSetting is the environment variable of Weaviate that makes its BM25 searches
// exact, with the value to set on every node.
const PruningSetting = "BLOCKMAX_WAND_PER_SEGMENT_LIMIT=100000"

// A MissingMatchesError reports that searches of the cluster miss matches. Weaviate 1.37.0
// prunes matches that belong among the best until it has compacted its files.
type MissingMatchesError struct {
	URL           string
	Missing, Want int // of the best matches of the test's queries
}

func (e *MissingMatchesError) Error() string {
	return fmt.Sprintf("searches of %s miss %d of %d best matches", e.URL, e.Missing, e.Want)
}

const (
	probeObjects = 3000
	probeLimit   = 100
)

// probeQueries are queries with frequent and rare words.
var probeQueries = []string{"w0 w3", "w1 w2 w9", "w5 w40 w41", "w0 w1 w2 w3 w4"}

// ProbeSearch tests whether searches of the cluster find the best matches: it writes
// generated objects to a class of its own, asks each node at once, and compares the
// results with exact BM25 scores. The error is a *MissingMatchesError if they differ.
func (c *Client) ProbeSearch(ctx context.Context) (err error) {
	var random [8]byte
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	name := "DocsearchProbe" + hex.EncodeToString(random[:])
	copies, err := c.copies(ctx)
	if err != nil {
		return err
	}
	if err := c.createClass(ctx, newClass(name, "a test of docsearch, can be deleted", false, copies, searched("bag"), number("slot"))); err != nil {
		return err
	}
	defer func() {
		// Even if ctx has ended, because the class would remain.
		if deleteErr := c.deleteClass(context.WithoutCancel(ctx), name); err == nil {
			err = deleteErr
		}
	}()
	bags := probeBags()
	for from := 0; from < len(bags); from += batchObjects {
		var batch []object
		for i := from; i < min(len(bags), from+batchObjects); i++ {
			batch = append(batch, object{Class: name, ID: newID(random[:], fmt.Append(nil, i)).String(), Properties: map[string]any{"bag": strings.Join(bags[i], " "), "slot": i}})
		}
		if _, err := c.store(ctx, batch); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := c.only(n).probe(ctx, name, bags); err != nil {
			return err
		}
	}
	return nil
}

// probe asks the only node of the client.
func (c *Client) probe(ctx context.Context, class string, bags [][]string) error {
	missing, want := 0, 0
	for _, query := range probeQueries {
		graphql := fmt.Sprintf("{Get{%s(limit:%d,bm25:{query:%s,properties:[\"bag\"]}){slot}}}", class, probeLimit, quote(query))
		found, err := find[listedObject](ctx, c, class, graphql)
		if err != nil {
			return err
		}
		best := bestBags(bags, strings.Fields(query), probeLimit)
		want += len(best)
		for _, n := range best {
			if !slices.ContainsFunc(found, func(o listedObject) bool { return o.Slot == n }) {
				missing++
			}
		}
	}
	// Objects with equal scores may be exchanged, and scores are of single precision.
	if missing > want/100 {
		return &MissingMatchesError{c.nodes[0].url, missing, want}
	}
	return nil
}

// probeBags generates the words of the objects: few frequent and many rare ones, in texts
// of different lengths.
func probeBags() [][]string {
	rng := rand.New(rand.NewPCG(5, 6))
	bags := make([][]string, probeObjects)
	for i := range bags {
		for range 20 + rng.IntN(200) {
			bags[i] = append(bags[i], fmt.Sprintf("w%d", int(rng.ExpFloat64()*30)))
		}
	}
	return bags
}

// bestBags returns the bags with the best BM25 scores, as Weaviate defines them: without
// the factor k1+1.
func bestBags(bags [][]string, query []string, limit int) []uint32 {
	total, frequency := 0, map[string]int{}
	counts := make([]map[string]int, len(bags))
	for i, bag := range bags {
		total += len(bag)
		counts[i] = map[string]int{}
		for _, w := range bag {
			counts[i][w]++
		}
		for w := range counts[i] {
			frequency[w]++
		}
	}
	average := float64(total) / float64(len(bags))
	scores := make([]float64, len(bags))
	for i, bag := range bags {
		for _, w := range query {
			tf, df := float64(counts[i][w]), float64(frequency[w])
			idf := math.Log(1 + (float64(len(bags))-df+.5)/(df+.5))
			scores[i] += idf * tf / (tf + BM25K1*(1-BM25B+BM25B*float64(len(bag))/average))
		}
	}
	order := make([]uint32, len(bags))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:min(limit, len(order))]
	for len(order) > 0 && scores[order[len(order)-1]] == 0 {
		order = order[:len(order)-1]
	}
	return order
}
