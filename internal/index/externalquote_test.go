package index

import (
	"slices"
	"testing"
)

func TestFoundPassages(t *testing.T) {
	p := &foundPassages{all: []Found{
		{ID: "b1", Document: "b", Place: 1}, {ID: "a4", Document: "a", Place: 4}, {ID: "a1", Document: "a", Place: 1},
		{ID: "a2", Document: "a", Place: 2}, {ID: "a1", Document: "a", Place: 1}, {ID: "c0", Document: "c"},
	}}
	for _, tt := range []struct{ n, next uint32 }{{0, 0}, {1, 0}, {2, 3}, {3, 0}, {4, 3}, {5, 0}} {
		if next, found, err := p.Following(tt.n); err != nil || next != tt.next || found != (tt.next != 0) {
			t.Errorf("after passage %d: %d, %v, %v; want %d", tt.n, next, found, err, tt.next)
		}
	}
	for document, want := range [][]uint32{{2, 4, 3, 1}, {0}, {5}, nil} {
		if members, err := p.Members(uint32(document)); err != nil || !slices.Equal(members, want) {
			t.Errorf("document %d: %v, %v; want %v", document, members, err, want)
		}
	}
}
