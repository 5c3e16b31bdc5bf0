package lexical

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConstraint(t *testing.T) {
	// A passage of another document is between two of one, so that ordinals differ from
	// passage numbers.
	x := build(t, []uint32{0, 1, 0, 2}, []Fields{
		{Title: "Pipelines", Page: "Integration", Body: "Pipelines run jobs in stages.", Address: "https://e.org/ci/pipelines.html"},
		{Title: "Caching", Page: "Storage", Body: "A cache keeps dependencies between jobs.", Address: "https://e.org/store/caching.html"},
		{Title: "Retries", Page: "Integration", Body: "Retry a job across several stages. Jobs fail.", Address: "https://e.org/ci/pipelines.html#retry"},
		{Title: "Languages", Page: "Languages", Body: "Ruby and Go.", Address: "https://e.org/languages.html"},
	})
	all := []uint32{0, 1, 2, 3}
	for _, tt := range []struct {
		query   string
		relaxed bool
		text    string
		want    []uint32
	}{
		{query: "run jobs", text: "run jobs", want: all},
		{query: "run -stages", text: "run", want: []uint32{1, 3}},
		{query: "run -nowhere", text: "run", want: all},
		{query: "run path:ci/pipelines", text: "run", want: []uint32{0, 2}},
		{query: "run -path:ci", text: "run", want: []uint32{1, 3}},
		{query: "run path:nowhere", text: "run", want: nil},
		{query: "title:caching", text: "caching", want: []uint32{1}},
		{query: "title:jobs", text: "jobs", want: nil},
		{query: `"jobs in stages"`, text: "jobs in stages", want: []uint32{0}},
		{query: `"stages in jobs"`, text: "stages in jobs", want: nil},
		{query: `"stages in jobs"`, relaxed: true, text: "stages in jobs", want: all},
		{query: `"stages in jobs" path:ci`, relaxed: true, text: "stages in jobs", want: []uint32{0, 2}},
		{query: `run "jobs in stages"`, text: "run jobs in stages", want: all}, // preferred only
		{query: `run -"jobs in stages" path:ci`, text: "run", want: []uint32{2}},
	} {
		t.Run(tt.query, func(t *testing.T) {
			c, err := x.Constraint(Query{Text: tt.query}, Signals{Text: tt.query, Relaxed: tt.relaxed})
			if err != nil {
				t.Fatal(err)
			}
			var got []uint32
			for _, n := range all {
				if c.Accept == nil || c.Accept(n) {
					got = append(got, n)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || c.Text != tt.text {
				t.Errorf("text %q, want %q; passages (-want +got)\n%s", c.Text, tt.text, diff)
			}
		})
	}
	q := Query{Text: "run -stages", Accept: func(n uint32) bool { return n != 1 }}
	c, err := x.Constraint(q, Signals{Text: q.Text})
	if err != nil || c.Accept(1) || !c.Accept(3) {
		t.Errorf("the query's own Accept is ignored: %v", err)
	}
}

// TestConstraintIsThatOfSearch checks that Search and Constraint agree in a large index
// whose posting lists have several blocks.
func TestConstraintIsThatOfSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	words := []string{"common", "alpha", "beta", "gamma", "delta", "epsilon"}
	var documents []uint32
	var fields []Fields
	for i := range 6000 {
		body := "common"
		for range 12 {
			body += " " + words[min(random.IntN(len(words)), random.IntN(len(words)))]
		}
		documents = append(documents, uint32(i%1500))
		fields = append(fields, Fields{Title: words[random.IntN(len(words))], Page: fmt.Sprint("Page", i), Body: body})
	}
	x := build(t, documents, fields)
	for _, query := range []string{"common -epsilon", `common -"beta alpha gamma"`, `"delta beta"`, "title:epsilon -delta", "common -gamma -epsilon"} {
		accepted := 0
		c, err := x.Constraint(Query{Text: query}, Signals{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint32(300) {
			hits, s, err := x.Search(Query{Text: query, Limit: 1, Accept: func(p uint32) bool { return p == n }})
			if err != nil {
				t.Fatal(err)
			}
			found := !s.Relaxed && slices.ContainsFunc(hits, func(h Hit) bool { return h.Passage == n })
			if found != c.Accept(n) {
				t.Fatalf("%s: passage %d: found %t, accepted %t", query, n, found, c.Accept(n))
			}
			if c.Accept(n) {
				accepted++
			}
		}
		if accepted == 0 || accepted == 300 {
			t.Errorf("%s: %d of 300 are accepted", query, accepted)
		}
	}
}
