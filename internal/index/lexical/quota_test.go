package lexical

import (
	"slices"
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
		{"two of a document", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 1), hit(3, 0, 7, 1), hit(4, 1, 6, 1)}, 10, []uint32{1, 2, 4}},
		{"another word is not enough", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 1), hit(3, 0, 7, 0b10)}, 10, []uint32{1, 2}},
		{"another name", []candidate{hit(1, 0, 9, 1), hit(2, 0, 8, 0b100), hit(3, 0, 7, 0b100), hit(4, 0, 6, 0b1000)}, 10, []uint32{1, 2, 4}},
		{"of another document", []candidate{hit(1, 0, 9, 0b100), hit(2, 1, 8, 1), hit(3, 1, 7, 1), hit(4, 1, 6, 0b100)}, 10, []uint32{1, 2, 3, 4}},
		{"limit", []candidate{hit(1, 0, 9, 1), hit(2, 1, 8, 1), hit(3, 2, 7, 1)}, 2, []uint32{1, 2}},
	} {
		var got []uint32
		for _, c := range capPerDocument(tt.found, names, tt.n, 2) {
			got = append(got, c.Passage)
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
