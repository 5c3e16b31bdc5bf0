package humanize

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A SizeValue is a flag value in bytes, for example 500MB.
type SizeValue int64

// Type returns the name of the type in help texts.
func (v *SizeValue) Type() string { return "size" }

// String formats the size, or returns "" for zero.
func (v *SizeValue) String() string {
	if *v == 0 {
		return ""
	}
	return Size(int64(*v))
}

// Set parses a number with a unit.
func (v *SizeValue) Set(s string) error {
	number := strings.TrimSpace(strings.ToUpper(s))
	unit := int64(1)
	for i, suffix := range []string{"KB", "MB", "GB"} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = strings.TrimSpace(n), int64(math.Pow10(3*(i+1)))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return errors.New("want a number with a unit, such as 500MB or 2GB")
	}
	*v = SizeValue(n * unit)
	return nil
}

// A Period is a flag value: a start time or a duration before now.
type Period struct {
	text string
	at   time.Time
	ago  time.Duration
}

// String returns the text that Set parsed.
func (p *Period) String() string { return p.text }

// Type returns the name of the type in help texts.
func (p *Period) Type() string { return "time" }

// Set parses a duration such as 7d or 12h, or a date.
func (p *Period) Set(s string) error {
	p.text = s
	if at, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		p.at, p.ago = at, 0
		return nil
	}
	var err error
	if number, ok := strings.CutSuffix(s, "d"); ok {
		var days int
		_, err = fmt.Sscanf(number+"\n", "%d\n", &days)
		p.ago = time.Duration(days) * 24 * time.Hour
	} else {
		p.ago, err = time.ParseDuration(s)
	}
	if err != nil || p.ago < 0 {
		return errors.New("want a period such as 7d or 12h, or a date such as 2026-01-31")
	}
	return nil
}

// Before returns the start of the period that ends at now, or the zero time if
// the flag is not set.
func (p *Period) Before(now time.Time) time.Time {
	if p.ago > 0 {
		return now.Add(-p.ago)
	}
	return p.at
}

// SplitList returns the items of a list with commas, without space around them.
func SplitList(s string) []string {
	var list []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
