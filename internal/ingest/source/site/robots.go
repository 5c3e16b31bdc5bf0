package site

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxRobots is how much of a robots.txt is read, as in RFC 9309.
const maxRobots = 512 << 10

// robots holds the rules of a robots.txt for one crawler.
type robots struct {
	rules    []robotsRule
	delay    time.Duration // between requests
	sitemaps []string
}

type robotsRule struct {
	pattern string // for the escaped path with its query; "*" matches anything, "$" the end
	allow   bool
}

// parseRobots parses a robots.txt as in RFC 9309. It skips invalid lines. The
// groups that name the crawler apply, or else those for all crawlers.
func parseRobots(data []byte, agent string) robots {
	name, _, _ := strings.Cut(agent, "/")
	var own, all robots
	var sitemaps []string
	found := false
	var forOwn, forAll, inRules bool // whether the current group applies
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\uFEFF")) {
		line, _, _ = strings.Cut(line, "#")
		// Old Macs end lines with a carriage return.
		for part := range strings.SplitSeq(line, "\r") {
			key, value, ok := strings.Cut(part, ":")
			if !ok {
				continue
			}
			key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
			switch key {
			case "user-agent":
				if inRules {
					forOwn, forAll, inRules = false, false, false
				}
				if value == "*" {
					forAll = true
				} else if product, _, _ := strings.Cut(value, "/"); strings.EqualFold(product, name) {
					forOwn, found = true, true
				}
			case "allow", "disallow", "crawl-delay":
				inRules = true
				if forOwn {
					own.add(key, value)
				}
				if forAll {
					all.add(key, value)
				}
			case "sitemap":
				sitemaps = append(sitemaps, value)
			}
		}
	}
	r := all
	if found {
		r = own
	}
	r.sitemaps = sitemaps
	return r
}

func (r *robots) add(key, value string) {
	if key == "crawl-delay" {
		const most = time.Minute
		if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
			r.delay = time.Duration(min(s, most.Seconds()) * float64(time.Second))
		}
		return
	}
	if value == "" {
		return // "Disallow:" disallows nothing
	}
	r.rules = append(r.rules, robotsRule{escapePattern(value), key == "allow"})
}

// escapePattern escapes a pattern like a request path.
func escapePattern(s string) string {
	path, query, ok := strings.Cut(s, "?")
	parts := strings.Split(path, "*")
	for i, part := range parts {
		parts[i] = escapePath(part)
	}
	path = strings.Join(parts, "*")
	if ok {
		return path + "?" + query
	}
	return path
}

// allows reports whether a page may be requested: by the longest matching rule;
// among equally long ones, an allowing rule wins.
func (r *robots) allows(u *url.URL) bool {
	target := u.EscapedPath()
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	allow, longest := true, -1
	for _, rule := range r.rules {
		n := len(rule.pattern)
		if (n > longest || n == longest && rule.allow) && matchRobots(rule.pattern, target) {
			allow, longest = rule.allow, n
		}
	}
	return allow
}

// matchRobots matches a pattern against the beginning of s. Each literal
// between stars matches at its first occurrence, so the time does not grow with
// the number of stars.
func matchRobots(pattern, s string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	part, rest, star := strings.Cut(pattern, "*")
	s, ok := strings.CutPrefix(s, part)
	if !star {
		return ok && (!whole || s == "")
	}
	for ok {
		part, rest, star = strings.Cut(rest, "*")
		if !star && whole {
			return strings.HasSuffix(s, part)
		}
		if _, s, ok = strings.Cut(s, part); !star {
			return ok
		}
	}
	return false
}
