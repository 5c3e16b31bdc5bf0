package cluster

import (
	"context"
	"encoding/hex"
	"fmt"
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
	var exact BM25
	for from := 0; from < len(bags); from += batchObjects {
		var batch []object
		for i := from; i < min(len(bags), from+batchObjects); i++ {
			exact.Add(bags[i])
			batch = append(batch, object{Class: name, ID: newID(random[:], fmt.Append(nil, i)).String(),
				Properties: map[string]any{"bag": bags[i], "slot": i}})
		}
		if _, err := c.store(ctx, batch); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := c.only(n).probe(ctx, name, &exact); err != nil {
			return err
		}
	}
	return nil
}

// probe asks the only node of the client and compares its answers with the exact ones.
func (c *Client) probe(ctx context.Context, class string, exact *BM25) error {
	missing, want := 0, 0
	for _, query := range probeQueries {
		graphql := fmt.Sprintf("{Get{%s(limit:%d,bm25:{query:%s,properties:[\"bag\"]}){slot}}}", class, probeLimit,
			quote(query))
		found, err := find[listedObject](ctx, c, class, graphql)
		if err != nil {
			return err
		}
		best := exact.Best(query, probeLimit)
		want += len(best)
		for _, n := range best {
			if !slices.ContainsFunc(found, func(o listedObject) bool { return int(o.Slot) == n }) {
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
func probeBags() []string {
	rng := rand.New(rand.NewPCG(5, 6))
	bags := make([]string, probeObjects)
	for i := range bags {
		var words []string
		for range 20 + rng.IntN(200) {
			words = append(words, fmt.Sprintf("w%d", int(rng.ExpFloat64()*30)))
		}
		bags[i] = strings.Join(words, " ")
	}
	return bags
}
