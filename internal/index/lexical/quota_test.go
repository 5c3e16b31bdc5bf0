package lexical

import (
	"slices"
	"strings"
	"testing"
)

func TestCapPerDocument(t *testing.T) {
	const names = 0b1100
	hit := func(passage, document uint32, score float64, terms uint64) candidate {
		return candidate{Hit: Hit{Passage: passage, Document: document, Score: score, Terms: terms}}
	}
	for _, tt := range []struct {
		name  string
		found []candidate
		n     int
		want  []uint32
	}{
		{"two of a document", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 1), hit(3, 0, 7, 1), hit(4, 1, 6, 1)}, 10, []uint32{1, 2, 4, 3}},
		{"another word is not enough", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 1), hit(3, 0, 7, 0b10), hit(4, 1, 6, 1)}, 3, []uint32{1, 2, 4}},
		{"another name", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 0b100), hit(3, 0, 7, 0b100), hit(4, 0, 6, 0b1000), hit(5, 1, 5, 1)}, 4, []uint32{1, 2, 4, 5}},
		{"of another document", []candidate{hit(1, 0, 9, 0b100), hit(2, 1, 8, 1), hit(3, 1, 7, 1), hit(4, 1, 6, 0b100)}, 10, []uint32{1, 2, 3, 4}},
		{"too few within the quotas", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 1), hit(3, 0, 7, 1), hit(4, 0, 6, 1), hit(5, 1, 5, 1)}, 4, []uint32{1, 2, 5, 3}},
		{"limit", []candidate{hit(1, 0, 9, 1), hit(2, 1, 8, 1), hit(3, 2, 7, 1)}, 2, []uint32{1, 2}},
	} {
		var got []uint32
		beyond := false
		for _, c := range capPerDocument(tt.found, names, tt.n, 2) {
			got = append(got, c.Passage)
			if beyond && !c.Beyond {
				t.Errorf("%s: passage %d is within the quota, but follows one beyond", tt.name, c.Passage)
			}
			beyond = c.Beyond
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A quota never admits more than twice its number.
func TestQuota(t *testing.T) {
	quota := NewQuota(2, ^uint64(0))
	admitted := 0
	for i := range 10 {
		if h := (Hit{Terms: 1 << i}); quota.Admits(&h) {
			quota.Add(&h)
			admitted++
		}
	}
	if admitted != 4 {
		t.Errorf("%d hits, want 4", admitted)
	}
}

// Hits beyond the quota of a page follow those of all other pages, even of pages that score far less.
func TestBeyondQuota(t *testing.T) {
	var documents []uint32
	var fields []Fields
	add := func(document uint32, body string) {
		documents, fields = append(documents, document), append(fields, Fields{Body: body})
	}
	for range 5 {
		add(0, "The red kettle is a red kettle.")
	}
	for i := range uint32(200) {
		add(1+i, "Red, red, red, then kettle, kettle, kettle.")
		add(1+i, "Some other text.")
	}
	add(201, "At the end comes the red kettle"+strings.Repeat(" after many other words", 50))
	x := build(t, documents, fields)
	for _, tt := range []struct {
		name   string
		limit  int
		accept func(uint32) bool
		want   []uint32 // documents
	}{
		{"pages first", 3, nil, []uint32{0, 0, 201}},
		{"then the others", 10, nil, []uint32{0, 0, 201, 0, 0}},
		{"only one page", 4, func(n uint32) bool { return n < 5 }, []uint32{0, 0, 0, 0}},
	} {
		hits, _, err := x.Search(Query{Text: `"red kettle"`, Limit: tt.limit, Accept: tt.accept})
		if err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for _, h := range hits {
			got = append(got, h.Document)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: hits of documents %d, want %d", tt.name, got, tt.want)
		}
	}
}
