package urlmatch

import (
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxHost is the maximum length of an internationalized host, in bytes.
const maxHost = 1 << 10

// The parameters of Punycode (RFC 3492, section 5).
const (
	base        = 36
	tMin        = 1
	tMax        = 26
	skew        = 38
	damp        = 700
	initialBias = 72
	initialN    = 128
)

// ASCIIHost returns a host in lower case, and an internationalized one in Punycode. It
// neither validates the host nor maps characters as IDNA does, except for case and
// composition. Package idna does both, but the hook cannot import it: Go would initialize
// the parsers of HTML, PDF and xz first, because their import paths precede its own.
func ASCIIHost(host string) string {
	if isASCII(host) || !utf8.ValidString(host) || len(host) > maxHost {
		return strings.ToLower(host)
	}
	labels := strings.Split(norm.NFC.String(strings.ToLower(norm.NFC.String(host))), ".")
	for i, label := range labels {
		if isASCII(label) {
			continue
		}
		labels[i] = "xn--" + punycode(label)
	}
	return strings.Join(labels, ".")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// punycode encodes a label (RFC 3492, section 6.3). The label must be valid
// UTF-8.
func punycode(label string) string {
	var out []byte
	remaining := 0
	for _, r := range label {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		} else {
			remaining++
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias, handled := rune(initialN), 0, initialBias, basic
	for remaining > 0 {
		next := rune(math.MaxInt32)
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (handled + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			out = appendVariable(out, delta, bias)
			bias = adapt(delta, handled+1, handled == basic)
			delta = 0
			handled++
			remaining--
		}
		delta++
		n++
	}
	return string(out)
}

// appendVariable appends an integer of variable length.
func appendVariable(out []byte, q, bias int) []byte {
	for k := base; ; k += base {
		t := min(max(k-bias, tMin), tMax)
		if q < t {
			return append(out, digit(q))
		}
		out = append(out, digit(t+(q-t)%(base-t)))
		q = (q - t) / (base - t)
	}
}

func digit(d int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[d] }

// adapt returns the bias after a delta (RFC 3492, section 6.1).
func adapt(delta, points int, first bool) int {
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (base-tMin)*tMax/2; k += base {
		delta /= base - tMin
	}
	return k + (base-tMin+1)*delta/(delta+skew)
}
