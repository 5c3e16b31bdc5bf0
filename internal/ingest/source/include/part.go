package include

import (
	"path"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/code"
)

// A part selects lines of an included file. The zero part is all of it.
type part struct {
	ranges        []lineRange
	joint         string // line between ranges
	region        string // name of a marked region, or of a heading
	tags          []string
	after, before string // text of the lines before and behind the part
	withFirst     bool   // the part has the line before it
	withLast      bool   // the part has the line behind it
}

// isPart reports whether the file seems to exist only to be included: it is included as a
// whole, or is code with marks for the purpose.
func (p *part) isPart(name string) bool {
	if p.region != "" || len(p.tags) > 0 {
		return code.Reads(strings.ToLower(path.Ext(name)))
	}
	return len(p.ranges) == 0 && p.after == "" && p.before == ""
}

// isExample reports whether a file of which the page includes some lines is code next to the
// page, or in a folder of examples.
func (e *expander) isExample(name string) bool {
	if !code.Reads(strings.ToLower(path.Ext(name))) {
		return false
	}
	folder := path.Dir(name)
	for part := range strings.SplitSeq(folder, "/") {
		switch part {
		case "listings", "snippets", "examples", "samples", "includes":
			return true
		}
	}
	return folder == path.Dir(e.page)
}

// of returns the selected lines.
func (p *part) of(lines []string) ([]string, bool) {
	switch {
	case p.region != "":
		var ok bool
		if lines, ok = regionOf(lines, p.region); !ok {
			return nil, false
		}
	case len(p.tags) > 0:
		lines = taggedLines(lines, p.tags)
	}
	var ok bool
	if lines, ok = p.between(lines); !ok {
		return nil, false
	}
	if len(p.ranges) == 0 {
		return lines, true
	}
	var out []string
	for i, r := range p.ranges {
		if i > 0 && p.joint != "" {
			out = append(out, p.joint)
		}
		out = append(out, r.of(lines)...)
	}
	return out, true
}

// between returns the lines between those that contain after and before.
func (p *part) between(lines []string) ([]string, bool) {
	find := func(text string) int {
		for i, l := range lines {
			if strings.Contains(l, text) {
				return i
			}
		}
		return -1
	}
	if p.after != "" {
		i := find(p.after)
		if i < 0 {
			return nil, false
		}
		if !p.withFirst {
			i++
		}
		lines = lines[i:]
	}
	if p.before != "" {
		i := find(p.before)
		if i < 0 {
			return nil, false
		}
		if p.withLast {
			i++
		}
		lines = lines[:i]
	}
	return lines, true
}

// A lineRange is an inclusive range of lines, counted from 1. 0 means the first
// or last line; negative numbers count from the end.
type lineRange struct{ first, last int }

// parseRanges parses "1:5, 7, 9:", with that separator between the numbers. It skips
// invalid ranges.
func parseRanges(list, separator string) []lineRange {
	var ranges []lineRange
	for part := range strings.FieldsFuncSeq(strings.Trim(list, `"`),
		func(r rune) bool { return r == ',' || r == ';' }) {
		first, last, ok := strings.Cut(strings.TrimSpace(part), separator)
		if !ok {
			last = first
		}
		var r lineRange
		var err1, err2 error
		if first != "" {
			r.first, err1 = strconv.Atoi(first)
		}
		if last != "" {
			r.last, err2 = strconv.Atoi(last)
		}
		if err1 == nil && err2 == nil {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

// of returns the lines of the range.
func (r lineRange) of(lines []string) []string {
	at := func(n, none int) int {
		switch {
		case n == 0:
			return none
		case n < 0:
			return len(lines) + 1 + n
		}
		return n
	}
	first, last := max(at(r.first, 1), 1), min(at(r.last, len(lines)), len(lines))
	if first > last {
		return nil
	}
	return lines[first-1 : last]
}

// markForm matches the marks of regions in included files, of several generators:
//
//	ANCHOR: name, ANCHOR_END: name          mdBook
//	--8<-- [start:name], --8<-- [end:name]  MkDocs
//	#region name, #endregion name           VitePress
//	tag::name[], end::name[]                AsciiDoc
var markForm = document.Lazily(`\bANCHOR(_END)?:\s*([\w-]+)\s*(?:\*/|-->)?\s*$` +
	`|(;?)-+8<-+[ \t]+\[[ \t]*(start|end)[ \t]*:[ \t]*([A-Za-z][-_0-9A-Za-z]*)[ \t]*\]` +
	`|^\s*(?:(?://|/\*|<!--|--|\*|;+|#)\s*#?|#)(end)?region\b\s*([\w*-]*)\s*(?:\*/|-->)?\s*$` +
	`|(?:^|\W)(tag|end)::(\S+?)\[\](?:\W|$)`)

// A mark begins or ends a region.
type mark struct {
	name   string
	begins bool
}

func markOf(line string) (mark, bool) {
	if !strings.Contains(line, "ANCHOR") && !strings.Contains(line, "8<-") && !strings.Contains(line, "region") &&
		!strings.Contains(line, "::") {
		return mark{}, false
	}
	m := markForm().FindStringSubmatch(line)
	switch {
	case m == nil || m[3] != "":
		return mark{}, false
	case m[2] != "":
		return mark{m[2], m[1] == ""}, true
	case m[4] != "":
		return mark{m[5], m[4] == "start"}, true
	case m[8] != "":
		return mark{m[9], m[8] == "tag"}, true
	}
	return mark{m[7], m[6] == ""}, true
}

// withoutMarks removes the marks of regions.
func withoutMarks(lines []string) []string {
	var out []string
	for _, l := range lines {
		if _, is := markOf(l); !is {
			out = append(out, l)
		}
	}
	return out
}

// regionOf returns the lines between the marks of a region, of each pair of them, or the
// section of a heading with that anchor.
func regionOf(lines []string, name string) (out []string, ok bool) {
	first := -1
	for i, l := range lines {
		switch m, is := markOf(l); {
		case !is || m.name != name && (m.begins || m.name != ""):
		case m.begins:
			first, ok = i+1, true
		case first >= 0:
			out, first = append(out, lines[first:i]...), -1
		}
	}
	if first >= 0 {
		out = append(out, lines[first:]...)
	}
	if ok {
		return out, true
	}
	return headingSection(lines, name)
}

// headingSection returns the section of the heading with that anchor.
func headingSection(lines []string, anchor string) ([]string, bool) {
	first, level := -1, 0
	var fence document.Fence
	for i, l := range lines {
		rest := strings.TrimLeft(l, "#")
		n := len(l) - len(rest)
		if fence.Next(strings.TrimSpace(l)) || n == 0 || !strings.HasPrefix(rest, " ") {
			continue
		}
		if first >= 0 && n <= level {
			return lines[first:i], true
		}
		if words := strings.FieldsFunc(strings.ToLower(rest), notInAnchor); first < 0 &&
			strings.Join(words, "-") == anchor {
			first, level = i, n
		}
	}
	if first < 0 {
		return nil, false
	}
	return lines[first:], true
}

func notInAnchor(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r < 0x80
}

// taggedLines returns the lines that AsciiDoc's tags select: "a", "!a", "*" for all regions,
// "**" for all lines.
func taggedLines(lines []string, tags []string) []string {
	selected := map[string]bool{}
	base := true
	for _, tag := range tags {
		name := strings.TrimPrefix(tag, "!")
		selected[name] = name == tag
		base = base && name != tag
	}
	if all, ok := selected["**"]; ok {
		base = all
	}
	type open struct {
		name string
		on   bool
	}
	stack := []open{{"", base}}
	var out []string
	for _, l := range lines {
		m, is := markOf(l)
		now := stack[len(stack)-1].on
		switch {
		case !is:
			if now {
				out = append(out, l)
			}
		case m.begins:
			if on, ok := selected[m.name]; ok {
				now = on
			} else if on, ok := selected["*"]; ok {
				now = on
			}
			stack = append(stack, open{m.name, now})
		default:
			for n := len(stack) - 1; n > 0; n-- {
				if stack[n].name == m.name {
					stack = stack[:n]
					break
				}
			}
		}
	}
	return out
}

// dedented removes the common indentation.
func dedented(lines []string) []string {
	least := -1
	for _, l := range lines {
		if n := len(indentOf(l)); n < len(l) && (least < 0 || n < least) {
			least = n
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(len(indentOf(l)), max(least, 0)):]
	}
	return out
}
