package config

import (
	"cmp"
	"strings"
)

// CompareVersions compares two versions by their numbers, as far as both have them. A
// release is newer than its pre-releases. An empty version comes first.
func CompareVersions(a, b string) int {
	x, preA := versionNumbers(a)
	y, preB := versionNumbers(b)
	if c := cmp.Compare(min(len(a), 1), min(len(b), 1)); c != 0 {
		return c
	}
	for i := range min(len(x), len(y)) {
		if c := cmp.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(len(x), len(y)); c != 0 {
		return c
	}
	switch {
	case preA == preB:
		return 0
	case preA == "":
		return 1
	case preB == "":
		return -1
	}
	return cmp.Compare(preA, preB)
}

// versionNumbers returns the leading numbers of a version, and its pre-release.
func versionNumbers(s string) (numbers []int, pre string) {
	s, _, _ = strings.Cut(strings.TrimLeft(s, "vV="), "+")
	for s != "" {
		n, digits := 0, 0
		for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
			if n < 1<<40 {
				n = 10*n + int(s[digits]-'0')
			}
			digits++
		}
		if digits == 0 {
			return numbers, s
		}
		numbers, s = append(numbers, n), s[digits:]
		if s == "" || s[0] != '.' {
			return numbers, s
		}
		s = s[1:]
	}
	return numbers, ""
}

// A Closeness says how well the documentation of one version fits another version.
type Closeness int

const (
	OtherMajor Closeness = iota // or unknown
	SameMajor
	SameMinor
	SameVersion
)

// VersionCloseness compares the version of a documentation with the version in use. A
// documentation of 3.12 is the same version as 3.12.4 in use, because documentation often
// has no patch number. Before 1.0, the second number counts as the major version.
func VersionCloseness(documented, used string) Closeness {
	x, _ := versionNumbers(documented)
	y, _ := versionNumbers(used)
	if len(x) == 0 || len(y) == 0 {
		return OtherMajor
	}
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	zero := x[0] == 0 && len(x) > 1 && len(y) > 1
	switch {
	case same == len(x) || same == len(y):
		return SameVersion
	case same >= 2:
		return SameMinor
	case same == 1 && !zero:
		return SameMajor
	}
	return OtherMajor
}
