package siteaddress

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Limits of the sample from which rules are learned.
const (
	maxSample = 160
	maxText   = 128 << 10
	minVotes  = 3
	maxLink   = 2000 // bytes
)

// learned returns rules for the folders to whose documents pages link by their addresses. A
// link and the path of a document end alike; what precedes that in the link is the address
// of what precedes it in the path.
func learned(tree fs.FS, names []string) []rule {
	ends := map[string][]document{} // by the last segment
	for _, name := range names {
		if d := newDocument(name); len(d.segments) > 0 {
			last := len(d.segments) - 1
			ends[d.segments[last]] = append(ends[d.segments[last]], d)
			if raw := d.numbered[last]; raw != d.segments[last] {
				ends[raw] = append(ends[raw], d)
			}
		}
	}

	type mapping struct{ folder, base string }
	votes, inFolder := map[mapping]int{}, map[string]int{}
	targets := map[mapping]map[string]bool{} // the documents to which the links lead
	numbers := 0                             // segments of links without the numbers of files, less those with them
	step := max(1, (len(names)+maxSample-1)/maxSample)
	for i := 0; i < len(names); i += step {
		for _, link := range linksIn(tree, names[i]) {
			segments := slices.DeleteFunc(strings.Split(link, "/"), func(s string) bool {
				return s == "" || strings.Contains(s, "{") // "{{version}}"
			})
			if d, shared := nearest(ends, segments); shared > 0 {
				for i := range shared {
					k := len(d.segments) - 1 - i
					if s := strings.ToLower(segments[len(segments)-1-i]); d.numbered[k] == d.segments[k] {
						continue
					} else if s == d.segments[k] {
						numbers++
					} else {
						numbers--
					}
				}
				base := "/" + strings.Join(segments[:len(segments)-shared], "/")
				m := mapping{d.folder(shared), withSlash(base)}
				if votes[m]++; targets[m] == nil {
					targets[m] = map[string]bool{}
				}
				targets[m][d.name] = true
				for folder := path.Dir(d.name); ; folder = path.Dir(folder) {
					inFolder[withSlash(folder)]++
					if folder == "." {
						break
					}
				}
			}
		}
	}

	var rules []rule
	for m, n := range votes {
		// One document may be linked to by an old address.
		if n >= minVotes && len(targets[m]) > 1 && 2*n > inFolder[m.folder] {
			rules = append(rules, rule{m.folder, "/" + strings.TrimPrefix(m.base, "/"),
				style{numbers: numbers >= 0, groups: true, fields: anyFields}})
		}
	}
	rules = append(rules, flat(rules)...)
	slices.SortFunc(rules, func(a, b rule) int { return strings.Compare(a.folder, b.folder) })
	return rules
}

// flat returns rules for the folders of which several subfolders have the same address.
func flat(rules []rule) []rule {
	subfolders := map[rule]int{}
	for _, r := range rules {
		if parent, _ := path.Split(strings.TrimSuffix(r.folder, "/")); parent != "" {
			r.folder, r.style.flat = parent, true
			subfolders[r]++
		}
	}
	maps.DeleteFunc(subfolders, func(_ rule, n int) bool { return n < 2 })
	return slices.Collect(maps.Keys(subfolders))
}

// A document is the path of a file as a generator shows it.
type document struct {
	name     string
	segments []string // in lower case, without extension, numbers, groups and index
	numbered []string // the same with numbers
	ends     []int    // of the segments in name
}

func newDocument(name string) document {
	d := document{name: name}
	start := 0
	for s := range strings.SplitSeq(name, "/") {
		end := start + len(s)
		raw := strings.ToLower(strings.TrimSuffix(s, pageExtension(s)))
		plain := passage.WithoutNumber(raw)
		isGroup := strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")")
		if !isGroup && !(end == len(name) && passage.IsIndexName(plain)) {
			d.segments, d.numbered, d.ends = append(d.segments, plain), append(d.numbered, raw), append(d.ends, end)
		}
		start = end + 1
	}
	return d
}

func pageExtension(name string) string {
	if isPage(name) {
		return path.Ext(name)
	}
	return ""
}

// folder returns the folder above the last n segments, in the form of rule.folder.
func (d *document) folder(n int) string {
	if n == len(d.segments) {
		return ""
	}
	return d.name[:d.ends[len(d.segments)-1-n]] + "/"
}

// nearest returns the document whose path shares the most segments with the end of a link,
// and their number; 0 if there is none or more than one.
func nearest(ends map[string][]document, link []string) (best *document, shared int) {
	if len(link) == 0 {
		return nil, 0
	}
	lower := make([]string, len(link))
	for i, s := range link {
		lower[i] = strings.ToLower(s)
	}
	last := &lower[len(lower)-1]
	*last = strings.TrimSuffix(*last, pageExtension(*last))
	candidates, only := ends[*last], false
	for i := range candidates {
		d := &candidates[i]
		n := 0
		for n < min(len(lower), len(d.segments)) {
			s, k := lower[len(lower)-1-n], len(d.segments)-1-n
			if s != d.segments[k] && s != d.numbered[k] {
				break
			}
			n++
		}
		if n > shared {
			best, shared, only = d, n, true
		} else if n == shared {
			only = false
		}
	}
	if !only {
		return nil, 0
	}
	return best, shared
}

// linksIn returns the links of a document to paths on the same site.
func linksIn(tree fs.FS, name string) []string {
	st, err := fs.Stat(tree, name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxText {
		return nil
	}
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil
	}
	var links []string
	for at := 0; at < len(data); at++ {
		n := bytes.IndexByte(data[at:], '/')
		if n < 0 {
			break
		}
		if at += n; !isLinkStart(data[:at]) {
			continue
		}
		link := string(data[at:min(len(data), at+maxLink)])
		if end := strings.IndexAny(link, " \t\r\n)\"'#?"); end >= 0 {
			link = link[:end]
		}
		if !strings.HasPrefix(link, "//") && (path.Ext(link) == "" || isPage(link)) {
			links = append(links, link)
		}
	}
	return links
}

// isLinkStart reports whether the target of a link follows a text: of [text](target), of an
// attribute, or of a reference definition.
func isLinkStart(before []byte) bool {
	for _, mark := range [...]string{"](", `href="`, `href='`} {
		if bytes.HasSuffix(before, []byte(mark)) {
			return true
		}
	}
	label, ok := bytes.CutSuffix(bytes.TrimRight(before, " \t"), []byte("]:"))
	if !ok {
		return false
	}
	line := label[bytes.LastIndexByte(label, '\n')+1:]
	return len(line) > 1 && line[0] == '[' && bytes.IndexByte(line, ']') < 0
}
