package manage

import (
	"testing"
	"testing/synctest"
	"time"
)

// The streams of a page share its parts until a change, and not for long.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(func() string { return "" })
		rendered := 0
		share := func(page string, want int) {
			t.Helper()
			parts, err := h.share(page, func() ([]part, error) {
				rendered++
				return []part{{"id", page}}, nil
			})
			if err != nil || len(parts) != 1 || parts[0].html != page || rendered != want {
				t.Errorf("%s: %v, %v after %d renderings, want %d", page, parts, err, rendered, want)
			}
		}
		share("/a", 1)
		share("/a", 1)
		share("/b", 2)
		h.publish()
		share("/a", 3)
		time.Sleep(minInterval)
		share("/a", 4)
		share("/a", 4)
		if len(h.shared) != 1 {
			t.Errorf("%d pages are kept, want 1", len(h.shared))
		}
	})
}
