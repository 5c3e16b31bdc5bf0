package notes

import "strings"

// maxAlternatives limits the patterns that braces expand to.
const maxAlternatives = 64

// Match reports whether a path matches a pattern. "*" matches any part of a name, "?" one
// character, "**" any folders, "{a,b}" one of the alternatives. A slash at the end matches
// everything below the folder.
func Match(pattern, path string) bool {
	for _, p := range alternatives(pattern) {
		if strings.HasSuffix(p, "/") {
			p += "**"
		}
		if matchSegments(strings.Split(p, "/"), strings.Split(path, "/")) {
			return true
		}
	}
	return false
}

// alternatives expands the braces of a pattern.
func alternatives(pattern string) []string {
	list := []string{pattern}
	for i := 0; i < len(list) && len(list) < maxAlternatives; {
		p := list[i]
		open := strings.IndexByte(p, '{')
		if open < 0 {
			i++
			continue
		}
		length := strings.IndexByte(p[open:], '}')
		if length < 0 {
			i++
			continue
		}
		list = append(list[:i], list[i+1:]...)
		for a := range strings.SplitSeq(p[open+1:open+length], ",") {
			list = append(list, p[:open]+a+p[open+length+1:])
		}
	}
	return list[:min(len(list), maxAlternatives)]
}

// matchSegments matches the names of a path with the segments of a pattern. It checks each
// pair once, so its time is bounded by their product.
func matchSegments(patterns, names []string) bool {
	// after[j] reports whether the patterns so far match the first j names.
	after := make([]bool, len(names)+1)
	after[0] = true
	for _, p := range patterns {
		next := make([]bool, len(names)+1)
		for j := range after {
			switch {
			case p == "**":
				next[j] = after[j] || j > 0 && next[j-1]
			case j > 0:
				next[j] = after[j-1] && matchName(p, names[j-1])
			}
		}
		after = next
	}
	return after[len(names)]
}

// matchName matches one name. On a mismatch it backtracks to the last star only, which is
// sufficient.
func matchName(pattern, name string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
