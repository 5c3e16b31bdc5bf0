package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// count formats a number with its noun: "1 thing", "2 things", "2 queries".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		return thousands(n) + " " + stem + "ries"
	}
	return thousands(n) + " " + thing + "s"
}

// thousands groups the digits of a number.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size formats a number of bytes.
func size(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	exponent := min(int(math.Log10(float64(n)))/3, len(units)-1)
	return fmt.Sprintf("%.1f %s", float64(n)/math.Pow(1000, float64(exponent)), units[exponent])
}

// age formats the time since an event.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return count(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return count(int(d.Hours()), "hour") + " ago"
	}
	return count(int(d.Hours()/24), "day") + " ago"
}

// quoteArgument quotes an argument for pasting into a shell, if necessary.
func quoteArgument(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?[]#~%!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
