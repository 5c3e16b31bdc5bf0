// Package humanize formats numbers, sizes, times and arguments of commands for people.
package humanize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count formats a number with its noun: "1 thing", "2 things", "2 queries",
// "2 indexes".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	plural := thing + "s"
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		plural = stem + "ries"
	} else if strings.HasSuffix(thing, "x") {
		plural = thing + "es"
	}
	return Thousands(n) + " " + plural
}

// Thousands groups the digits of a number.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size formats a number of bytes.
func Size(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	exponent := min(int(math.Log10(float64(n)))/3, len(units)-1)
	return fmt.Sprintf("%.1f %s", float64(n)/math.Pow(1000, float64(exponent)), units[exponent])
}

// Age formats the time since an event.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return Count(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return Count(int(d.Hours()), "hour") + " ago"
	}
	return Count(int(d.Hours()/24), "day") + " ago"
}

// Argument quotes an argument for pasting into a shell, if necessary.
func Argument(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?[]#~%!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Seconds formats a number of seconds.
func Seconds(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d.Abs() < time.Second:
		return "no time"
	case d.Abs() < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case d.Abs() < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}

// Truncate returns the first width characters of s, the last three as dots if s is longer.
func Truncate(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	return string(runes[:max(0, width-3)]) + "..."
}
