package library

import (
	"testing"
	"time"
)

// A folder is read when it has stopped changing, and periodically while it
// keeps changing.
func TestChangesDue(t *testing.T) {
	var c debouncer
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		stamp string
		want  bool
	}{
		{"a", true}, {"a", false}, {"a", false}, // first read, then no changes
		{"b", false}, {"b", true}, {"b", false}, // a change, then none
		{"c", false}, {"d", false}, {"e", false}, {"f", false}, {"g", false}, {"h", true}, // continuous changes: read after five seconds
		{"i", false}, {"j", false}, {"j", true}, // and again every five seconds
		{"k", false}, {"j", false}, {"k", false}, {"j", false}, // reverted
	} {
		if got := c.ready(step.stamp, now); got != step.want {
			t.Errorf("look %d, at %s: due %t", i, step.stamp, got)
		}
		now = now.Add(time.Second)
	}
}
