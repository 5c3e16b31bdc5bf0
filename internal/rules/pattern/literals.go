package pattern

import "slices"

// A literalInfo describes the texts that an expression matches. All literals are folded.
type literalInfo struct {
	exact    []string // all texts that the expression matches; nil if unknown
	required []string // each match contains one of these; only if exact is nil
	samples  [2]string
}

// requiredLiterals returns literals of which each match contains one, or nil if none are
// known.
func (k literalInfo) requiredLiterals() []string {
	if k.exact == nil {
		return k.required
	}
	if shortest(k.exact) == 0 {
		return nil
	}
	return k.exact
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// moreSelective returns the set of literals that a text is less likely to contain by
// chance.
func moreSelective(a, b []string) []string {
	switch m, n := shortest(a), shortest(b); {
	case m > n || m == n && m > 0 && len(a) <= len(b):
		return a
	case n > 0:
		return b
	}
	return nil
}

// concatenations returns every text of a followed by every text of b, or nil if there are
// more than maxLiterals or one is longer than maxLiteral.
func concatenations(a, b []string) []string {
	if len(a)*len(b) > maxLiterals {
		return nil
	}
	set := make([]string, 0, len(a)*len(b))
	for _, s := range a {
		for _, t := range b {
			if len(s)+len(t) > maxLiteral {
				return nil
			}
			if !slices.Contains(set, s+t) {
				set = append(set, s+t)
			}
		}
	}
	return set
}

func alternation(a, b literalInfo) literalInfo {
	k := literalInfo{samples: [2]string{a.samples[0], b.samples[1]}}
	if a.exact != nil && b.exact != nil && len(a.exact)+len(b.exact) <= maxLiterals {
		k.exact = slices.Concat(a.exact, b.exact)
		return k
	}
	if m, n := a.requiredLiterals(), b.requiredLiterals(); m != nil && n != nil && len(m)+len(n) <= maxLiterals {
		k.required = slices.Concat(m, n)
	}
	return k
}

// samplesOf returns two characters of a class.
func samplesOf(class byte) [2]string {
	switch class {
	case 'd':
		return [2]string{"1", "7"}
	case 's':
		return [2]string{" ", "\t"}
	case 'W':
		return [2]string{"-", "/"}
	}
	return [2]string{"x", "b"}
}

func classOf(chars, samples []string, counted, negated bool) literalInfo {
	var k literalInfo
	if counted && len(chars) <= maxLiterals {
		k.exact = chars
	}
	if negated {
		other := []string{}
		for _, c := range []string{"x", "b", "7", "-"} {
			if !slices.Contains(samples, c) {
				other = append(other, c)
			}
		}
		samples = other
	}
	if len(samples) > 0 {
		k.samples = [2]string{samples[0], samples[len(samples)-1]}
	}
	return k
}
