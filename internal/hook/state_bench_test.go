package hook

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkUpdate records denials in a folder with the states of other sessions: of this
// minute, of an hour ago, or of earlier versions. The times differ little: an update reads
// no folder of which the size depends on other sessions, and removes at most maxSwept files.
func BenchmarkUpdate(b *testing.B) {
	const states = 10_000
	minute := minuteOf(at(0))
	for _, bench := range []struct {
		name string
		path func(s Store, i int) string
	}{
		{"alone", nil},
		{"current", func(s Store, i int) string { return s.path(minute, fmt.Sprint(i)) }},
		{"old", func(s Store, i int) string { return s.path(minute-60, fmt.Sprint(i)) }},
		{"old-minutes", func(s Store, i int) string { return s.path(minute-60-int64(i), "s") }},
		{"earlier-versions", func(s Store, i int) string {
			return filepath.Join(s.Dir, seedPrefix+fmt.Sprint(i)+stateSuffix)
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := Store{b.TempDir()}
			for i := range states {
				if bench.path == nil {
					break
				}
				if err := writeState(bench.path(s, i), `{"last_denied": null}`); err != nil {
					b.Fatal(err)
				}
			}
			c := deny("q")
			for b.Loop() {
				if _, err := s.Update("s", c, func() time.Time { return at(0) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
