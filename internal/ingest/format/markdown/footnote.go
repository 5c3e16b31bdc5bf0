package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// maxFootnoteBytes is the maximum size of a Markdown footnote that is moved to
// its citation. A short footnote is more useful there than in a passage of
// footnotes.
const maxFootnoteBytes = 1000

// maxFootnotes limits the footnotes that are moved in a document.
const maxFootnotes = 1000

var (
	footnoteForm = regexp.MustCompile(`^ {0,3}\[\^([^\]\s]+)\]:`)
	citationForm = regexp.MustCompile(`\[\^([^\]\s]+)\]`)
)

// A footnote is a range of lines, counted from 0: first to end-1.
type footnote struct{ first, end int }

// moveFootnotes moves each short footnote of a Markdown text behind the block
// that first cites it. from is like Document.Origins; a moved footnote gets the
// line before it as its origin.
func moveFootnotes(lines []string, from []int) ([]string, []int) {
	notes, code := findFootnotes(lines)
	behind := placeFootnotes(lines, notes, code)
	if len(behind) == 0 {
		return lines, from
	}
	moved := map[int]bool{}
	for _, notes := range behind {
		for _, n := range notes {
			for i := n.first; i < n.end; i++ {
				moved[i] = true
			}
		}
	}
	var out []string
	var made []int
	add := func(line string, i int) {
		at := i + 1
		if from != nil {
			at = from[i]
		}
		out, made = append(out, line), append(made, at)
	}
	for i, line := range lines {
		if !moved[i] {
			add(line, i)
		}
		for _, n := range behind[i] {
			add("", i)
			for _, l := range lines[n.first:n.end] {
				add(l, i)
			}
		}
		if len(behind[i]) > 0 && i+1 < len(lines) && !document.IsBlank(lines[i+1]) {
			add("", i)
		}
	}
	return out, made
}

// placeFootnotes returns the footnotes to move behind each line, which ends the
// block that cites them first. Footnotes that are there already do not move.
func placeFootnotes(lines []string, notes map[string]footnote, code []bool) map[int][]footnote {
	ends := slices.Clone(code) // lines that are no text of a block
	for _, n := range notes {
		for i := n.first; i < n.end; i++ {
			ends[i] = true
		}
	}
	behind := map[int][]footnote{}
	cited := map[string]bool{}
	for i := range ends {
		if ends[i] || !strings.Contains(lines[i], "[^") {
			continue
		}
		for _, m := range citationForm.FindAllStringSubmatch(lines[i], -1) {
			n, ok := notes[m[1]]
			if !ok || cited[m[1]] {
				continue
			}
			cited[m[1]] = true
			end := i
			for end+1 < len(lines) && !document.IsBlank(lines[end+1]) && !ends[end+1] {
				end++
			}
			if n.first <= end || !isBlank(lines[end+1:n.first]) {
				behind[end] = append(behind[end], n)
			}
		}
	}
	return behind
}

// findFootnotes finds the short footnotes and the lines of code.
func findFootnotes(lines []string) (notes map[string]footnote, code []bool) {
	if !slices.ContainsFunc(lines, func(l string) bool {
		return strings.Contains(l, "[^") &&
			strings.Contains(l, "]:")
	}) {
		return nil, nil
	}
	notes, code = map[string]footnote{}, make([]bool, len(lines))
	var fence document.Fence
	for i, l := range lines {
		code[i] = fence.Next(strings.TrimSpace(l))
	}
	for i := 0; i < len(lines); i++ {
		m := footnoteForm.FindStringSubmatch(lines[i])
		if m == nil || code[i] || len(notes) == maxFootnotes {
			continue
		}
		n := footnote{i, i + 1}
		size, hasCode := len(lines[i]), false
		for n.end < len(lines) && continuesFootnote(lines, n.end) {
			size += len(lines[n.end]) + 1
			hasCode = hasCode || code[n.end]
			n.end++
		}
		if _, again := notes[m[1]]; !again && size <= maxFootnoteBytes && !hasCode {
			notes[m[1]] = n
		}
		i = n.end - 1
	}
	return notes, code
}

// continuesFootnote reports whether line i belongs to the footnote above: it
// continues its paragraph or is indented, possibly after a blank line.
func continuesFootnote(lines []string, i int) bool {
	isIndented := func(l string) bool { return strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "\t") }
	switch {
	case document.IsBlank(lines[i]):
		const blanks = 3
		text := slices.IndexFunc(lines[i:min(i+blanks+1, len(lines))],
			func(l string) bool { return !document.IsBlank(l) })
		return text >= 0 && isIndented(lines[i+text])
	case document.IsBlank(lines[i-1]):
		return isIndented(lines[i])
	}
	begins := strings.HasPrefix(lines[i], "#") || strings.HasPrefix(lines[i], "```") ||
		strings.HasPrefix(lines[i], "~~~")
	return !begins && !footnoteForm.MatchString(lines[i])
}

func isBlank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(l string) bool { return !document.IsBlank(l) })
}
