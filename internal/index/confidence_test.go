package index

import "testing"

func TestSizeThreshold(t *testing.T) {
	if got := sizeThreshold(evenPassages); got != .5 {
		t.Errorf("the threshold of a database of %d passages is %g", evenPassages, got)
	}
	last := mostOfSize
	for _, passages := range []int{1, 100, evenPassages, 10_000, 100_000, 10_000_000} {
		got := sizeThreshold(passages)
		if got > last || got <= 0 {
			t.Errorf("the threshold of %d passages is %g, of fewer %g", passages, got, last)
		}
		last = got
	}
}
