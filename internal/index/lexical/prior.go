package lexical

import (
	"hash/fnv"
	"io"
	"math"
	"strconv"
	"strings"
)

// Weights of the static prior: a passage's score independent of the query.
const (
	pageLinksPrior = .30
	linksPrior     = .15
	kindPrior      = -.15
	depthPrior     = -.15
	lengthPrior    = .05
	maxDepth       = 4
)

func (l *layout) priors() []float32 {
	var links, pageLinks float64
	shallow := uint8(math.MaxUint8)
	newest := make(map[uint64]version)
	for i := range l.passages {
		p := &l.passages[i]
		links, pageLinks = max(links, logLinks(p.inLinks)), max(pageLinks, logLinks(p.pageLinks))
		shallow = min(shallow, p.depth)
		if p.version != 0 {
			newest[p.family] = max(newest[p.family], p.version)
		}
	}
	priors := make([]float32, len(l.passages))
	for i := range l.passages {
		p := &l.passages[i]
		score := lengthPrior * math.Log1p(float64(p.bodyLength)) / 8
		score += depthPrior * float64(min(p.depth-shallow, maxDepth)) / maxDepth
		if links > 0 {
			score += linksPrior * logLinks(p.inLinks) / links
		}
		if pageLinks > 0 {
			score += pageLinksPrior * logLinks(p.pageLinks) / pageLinks
		}
		if p.aside || l.isRepeated(i) || p.version.olderThan(newest[p.family]) {
			score += kindPrior
		}
		priors[i] = float32(score)
	}
	return priors
}

// isRepeated reports whether another document has the content of the passage at ordinal i in a
// newer version, or in the documentation's own language.
func (l *layout) isRepeated(i int) bool {
	if l.members == nil {
		return false
	}
	m := &l.members[l.documents[l.segmentOf[i]]]
	return m.Old || m.Translated
}

// logLinks dampens a number of links.
func logLinks(links uint32) float64 { return float64(float32(math.Log1p(float64(links)))) }

// IsSecondaryPage reports whether an address is of a secondary page, about history, plans,
// internals or the project itself: release notes, announcements, guides to another version or
// from another program, changelogs, blogs, policies, decision records, rules for contributors.
// A page called migrations is about a feature. A page called releases, changes, news or
// posts may be about a feature of that name: whether it is secondary, its content says (see
// passage.ReleaseNotes and passage.Blog).
func IsSecondaryPage(address string) bool {
	path, _, _ := strings.Cut(strings.ToLower(address), "#")
	folder := ""
	for s := range strings.SplitSeq(path, "/") {
		if i := strings.LastIndexByte(s, '.'); i > 0 {
			s = s[:i]
		}
		switch s {
		case "history", "internals", "policy", "policies", "roadmap", "blog", "blogs", "release-notes", "release_notes", "releasenotes", "c-api", "archive", "archives",
			"announcement", "announcements", "migration-guide", "migration-guides", "migration_guide", "upgrade-guide", "upgrade_guide",
			"adr", "adrs", "contributing", "code-of-conduct", "code_of_conduct", "governance":
			return true
		}
		for _, prefix := range [...]string{"whatsnew", "whats-new", "what-s-new", "relnotes", "changelog", "deprecat",
			"announcing-", "migrating-from-", "migrating-to-", "migrate-from-", "migration-from-", "upgrading-from-", "upgrading-to-"} {
			if strings.HasPrefix(s, prefix) {
				return true
			}
		}
		for _, suffix := range [...]string{"-announcement", "-migration-guide", "-upgrade-guide"} {
			if strings.HasSuffix(s, suffix) {
				return true
			}
		}
		if folder == "migration" && (strings.Contains(s, "-to-") || strings.Contains(s, "from-") || strings.Contains(s, "migrat")) {
			return true
		}
		folder = s
		version := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(s, "release"), "-notes"), "-_v")
		if strings.HasPrefix(s, "release") && version != "" && isDigit(version[0]) {
			return true
		}
	}
	return false
}

// isManualPage reports whether a page title is that of a manual page, as in "tar(1) - an
// archiving utility".
func isManualPage(title string) bool {
	name, rest, ok := strings.Cut(title, "(")
	section, rest, closed := strings.Cut(rest, ")")
	return ok && closed && name != "" && !strings.Contains(name, " ") && section != "" && isDigit(section[0]) && len(section) <= maxSection && (rest == "" || strings.HasPrefix(rest, " - "))
}

// maxSection is the maximum length of a manual's section, as in 3ncurses.
const maxSection = 8

// depthOf returns the folder depth of a page.
func depthOf(address string) uint8 {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	path, _, _ := strings.Cut(address, "#")
	return uint8(min(strings.Count(path, "/"), math.MaxUint8))
}

// A version is the version in an address, as a number with the same order. 0 is none.
type version uint64

const (
	latest version = math.MaxUint64
	// singleNumber marks versions of one number, as in /docs/15/. As the number might be a
	// chapter's, it counts only if the family has a version called latest.
	singleNumber version = 1
)

func (v version) olderThan(newest version) bool {
	return v != 0 && v < newest && (v&singleNumber == 0 || newest == latest)
}

// versionOf returns the version in a folder name of the address, and its family: the hash
// of the address before it. Versions of one family are comparable.
func versionOf(address string) (family uint64, v version) {
	path, _, _ := strings.Cut(address, "#")
	start := 0
	if i := strings.Index(path, "://"); i >= 0 {
		start = i + 3
	}
	for {
		n := strings.IndexByte(path[start:], '/')
		if n < 0 {
			return 0, 0
		}
		if v := parseVersion(path[start : start+n]); v != 0 {
			h := fnv.New64a()
			io.WriteString(h, path[:start])
			return h.Sum64(), v
		}
		start += n + 1
	}
}

// parseVersion parses a folder name such as 3.11, v2, 15 or stable.
func parseVersion(name string) version {
	switch name {
	case "latest", "stable", "current":
		return latest
	}
	digits, marked := strings.CutPrefix(name, "v")
	v, parts := version(0), 0
	for s := range strings.SplitSeq(digits, ".") {
		if s == "" || len(s) > 3 || parts == 3 || strings.Trim(s, "0123456789") != "" {
			return 0
		}
		n, _ := strconv.Atoi(s) // digits only
		parts++
		v |= version(n+1) << (64 - 16*parts)
	}
	if parts == 1 && !marked {
		v |= singleNumber
	}
	return v
}
