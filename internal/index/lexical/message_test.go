package lexical

import "testing"

func TestSearchPrefersRunOfWords(t *testing.T) {
	// The first passage has the same words more often and in its titles, on a page with more links.
	x := build(t, []uint32{0, 1, 2}, []Fields{
		{Title: "Lock timeouts", Page: "Locks and requests", PageInLinks: 60, Body: "A lock request may exceed its period. The lock and the period of a request have a default; an exceeded period ends the request. Locks exceed no request."},
		{Title: "Diagnostics", Page: "Reference of messages", Body: "The file has a list of what the program prints when it stops. Among it is 1222: lock request time out period exceeded. Run it later."},
		{Title: "Periods", Page: "Requests", Body: "The period between two requests."},
	})
	for query, want := range map[string]uint32{
		"lock request time out period exceeded":                          1,
		"error: lock request for table orders: time out period exceeded": 1,
		"period exceeded by a request for a lock":                        0,
	} {
		hits, _, err := x.Search(Query{Text: query, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].Passage != want {
			t.Errorf("%s: got %+v, want passage %d first", query, hits, want)
		}
	}
}

func TestRuns(t *testing.T) {
	term := func(mass float64, places ...int) scoredTerm {
		return scoredTerm{queryTerm: queryTerm{places: places}, massShare: mass}
	}
	for _, tt := range []struct {
		name      string
		terms     []scoredTerm
		positions [][]uint32
		want      float64
	}{
		{"three words", []scoredTerm{term(.5, 0), term(.25, 1), term(.25, 2)}, [][]uint32{{7}, {8}, {9}}, 1. / 3},
		{"two words are a coincidence", []scoredTerm{term(.5, 0), term(.25, 1), term(.25, 2)}, [][]uint32{{7}, {8}, {12}}, 0},
		{"other distances", []scoredTerm{term(.5, 0), term(.25, 1), term(.25, 2)}, [][]uint32{{9}, {8}, {7}}, 0},
		{"other words between", []scoredTerm{term(.5, 0), term(.25, 4), term(.25, 6)}, [][]uint32{{1}, {5}, {7, 9}}, 1. / 3},
		{"one word three times is one", []scoredTerm{term(.6, 0, 1, 2), term(.4, 3)}, [][]uint32{{4, 5, 6}, {7}}, 0},
		{"a position beyond the limit", []scoredTerm{term(.5, 0), term(.25, 1), term(.25, 2)}, [][]uint32{{1 << 16}, {1<<16 + 1}, {1<<16 + 2}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRuns(tt.terms)
			for range 2 { // nothing is left of the first passage
				for n := range tt.terms {
					r.add(&tt.terms[n], n, tt.positions[n])
				}
				if got := r.take(); got < tt.want-1e-9 || got > tt.want+1e-9 {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			}
		})
	}
}

func TestIsMessage(t *testing.T) {
	for text, want := range map[string]bool{
		"psql: error: FATAL: no pg_hba.conf entry for host":    true,
		"Error [ERR_REQUIRE_ESM]: require() of ES Module a.js": true,
		`what does "index out of range here" mean`:             true,
		`error: "app" is not a target of this project`:         true,
		"TypeError: failed":                             false,
		"how to handle an error in a loop":              false,
		`the "exact phrase" operator`:                   false,
		"a warning about the number of words in a text": false,
	} {
		if got := isMessage(text); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}
