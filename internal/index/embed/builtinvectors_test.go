package embed

import (
	"slices"
	"testing"
)

// An opened model gives the same vectors as the trained one.
func TestVectorsOfFile(t *testing.T) {
	const n = 400
	m, b, _ := trained(t, n)
	again, err := b.Vectors(n, passages(n))
	if err != nil {
		t.Fatal(err)
	}
	if again.Len() != n || again.Dimensions() != m.Dimensions() {
		t.Fatalf("%d vectors of %d dimensions", again.Len(), again.Dimensions())
	}
	u, v := make([]float32, m.Dimensions()), make([]float32, m.Dimensions())
	for i := range n {
		if err := m.Vector(i, u); err != nil {
			t.Fatal(err)
		}
		if err := again.Vector(i, v); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(u, v) {
			t.Fatalf("passage %d has a different vector", i)
		}
	}
}
