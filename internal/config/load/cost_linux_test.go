package load

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Decoding takes time in proportion to the text. With a quadratic step, eight times as many keys
// take 64 times as long. The processor time of the thread counts, so that other programs do not.
func TestDecodingIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has costs of its own")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	now := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	for name, text := range map[string]func(n int) string{
		"a.toml": func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "[a.b%d.c]\n", i)
			}
			return b.String()
		},
		"b.toml": func(n int) string {
			var b strings.Builder
			b.WriteString("[routes]\n")
			for i := range n {
				fmt.Fprintf(&b, "a.b%d.pattern = \"x\"\n", i)
			}
			return b.String()
		},
		"c.toml": func(n int) string { return strings.Repeat("[[routes]]\nx = 1\n", n) },
		"a.yaml": func(n int) string {
			var b strings.Builder
			b.WriteString("routes:\n")
			for i := range n {
				fmt.Fprintf(&b, " r%d: {unknown: 1}\n", i)
			}
			return b.String()
		},
		"a.json": func(n int) string { return strings.ReplaceAll(manyRules(n), `"pattern"`, `"unknown"`) },
	} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			cost := func(n int) time.Duration {
				data := []byte(text(n))
				best := time.Duration(1<<63 - 1)
				for range 3 {
					began := now()
					routes, err := parseRoutes(filepath.FromSlash("/"+name), data)
					if err != nil {
						t.Fatal(err)
					}
					if _, _, err := decodeRules(name, routes, nil); err != nil {
						t.Fatal(err)
					}
					best = min(best, now()-began)
				}
				runtime.GC()
				return best
			}
			const few, factor, most = 4000, 8, 40
			a, b := cost(few), cost(factor*few)
			if b > most*max(a, time.Millisecond) {
				t.Errorf("%d keys take %s, %d take %s", few, a, factor*few, b)
			}
		})
	}
}
