package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// count is "1 thing", "2 things", "2 queries".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		return thousands(n) + " " + stem + "ries"
	}
	return thousands(n) + " " + thing + "s"
}

// thousands groups a number's digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size is a number of bytes for people.
func size(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	exponent := min(int(math.Log10(float64(n)))/3, len(units)-1)
	return fmt.Sprintf("%.1f %s", float64(n)/math.Pow(1000, float64(exponent)), units[exponent])
}

// age is how long ago something was, for people.
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

// quoteArgument is an argument as it can be pasted into a shell.
func quoteArgument(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?[]#~%!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
