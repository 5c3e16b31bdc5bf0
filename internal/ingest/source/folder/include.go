package folder

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// MkDocs pages include files of their repository, mostly code, in two forms:
//
//	{* ../src/example.py ln[1:5] hl[3] *}   FastAPI's: a block of code
//	--8<-- "src/example.py:1:5"             pymdownx.snippets: lines in place
//
// An included file may have any type. It must be within the source, and no
// option, ignore file or rule about secrets may exclude it. Otherwise the line
// is removed.

// Limits of the files that one page includes.
const (
	maxIncludes      = 500     // number of includes
	maxIncluded      = 1 << 20 // bytes, of one file and of all together
	maxIncludeNested = 8
)

// An openInclude returns the text of the file that a page includes by a path.
type openInclude func(path string) (string, error)

var errNotIncluded = errors.New("not included")

// An includer replaces include lines with the included files.
type includer struct {
	open  openInclude
	paths []string // all included paths, in order of first use
	// states has the content state of each path.
	states []string
	files  map[string][]string
	uses   int // number of includes so far
	left   int // remaining bytes
}

// expand replaces the lines that include files. from is the line of the page
// for each result line; it is nil if no line includes a file.
func (in *includer) expand(lines []string) (expanded []string, from []int) {
	if !slices.ContainsFunc(lines, mayInclude) {
		return lines, nil
	}
	in.left, in.files, from = maxIncluded, map[string][]string{}, []int{}
	var fence document.Fence
	for i := 0; i < len(lines); i++ {
		first := i
		var out []string
		code, isCode := parseCodeInclude(lines[i])
		if inCode := fence.Next(strings.TrimSpace(lines[i])); isCode && !inCode {
			out = in.code(code)
		} else {
			out, i = in.snippet(lines, i, 0)
		}
		for _, line := range out {
			expanded, from = append(expanded, line), append(from, first+1)
		}
	}
	return expanded, from
}

func mayInclude(line string) bool {
	return strings.Contains(line, "8<-") || strings.Contains(line, "{*")
}

// file returns the lines of the file at a path, or nil.
func (in *includer) file(path string) []string {
	if in.uses == maxIncludes {
		return nil
	}
	in.uses++
	lines, known := in.files[path]
	if !known {
		text, err := in.open(path)
		in.paths, in.states = append(in.paths, path), append(in.states, contentState(text, err))
		if err == nil {
			lines = document.SplitLines([]byte(text))
		}
		in.files[path] = lines
	}
	return lines
}

// withinBudget returns the lines if they fit into the remaining bytes, else
// nil.
func (in *includer) withinBudget(lines []string) []string {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if size > in.left {
		return nil
	}
	in.left -= size
	return lines
}

// contentState returns a digest of the result of open.
func contentState(text string, err error) string {
	if err != nil {
		return "none"
	}
	return "file " + source.Hash([]byte(text))
}

// A codeInclude is an include line in FastAPI's form.
type codeInclude struct {
	indent, path string
	lines        []lineRange // empty: all
}

// A lineRange is an inclusive range of lines, counted from 1. 0 means the first
// or last line; negative numbers count from the end.
type lineRange struct{ first, last int }

var codeIncludeForm = regexp.MustCompile(`^([ \t]*)\{\*[ \t]+([^\s*{}]+)((?:[ \t]+[a-z]+\[[^\]]*\])*)[ \t]*\*\}[ \t]*$`)

var codeIncludeOption = regexp.MustCompile(`([a-z]+)\[([^\]]*)\]`)

func parseCodeInclude(line string) (codeInclude, bool) {
	m := codeIncludeForm.FindStringSubmatch(line)
	if m == nil || !strings.ContainsAny(m[2], "./") {
		return codeInclude{}, false
	}
	c := codeInclude{indent: m[1], path: m[2]}
	for _, option := range codeIncludeOption.FindAllStringSubmatch(m[3], -1) {
		if option[1] != "ln" {
			continue
		}
		c.lines = append(c.lines, parseRanges(option[2])...)
	}
	return c, true
}

// parseRanges parses "1:5, 7, 9:". It skips invalid ranges.
func parseRanges(list string) []lineRange {
	var ranges []lineRange
	for part := range strings.SplitSeq(list, ",") {
		first, last, ok := strings.Cut(strings.TrimSpace(part), ":")
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

// code returns the file as a code block, or nil.
func (in *includer) code(c codeInclude) []string {
	all := in.file(c.path)
	if len(all) == 0 {
		return nil
	}
	const gap = "..."
	lines := all
	for i, r := range c.lines {
		if i == 0 {
			lines = nil
		} else {
			lines = append(lines, gap)
		}
		lines = append(lines, r.of(all)...)
	}
	if lines = in.withinBudget(lines); len(lines) == 0 {
		return nil
	}
	fence := mdwriter.Fence(strings.Join(lines, "\n"))
	out := []string{c.indent + fence + strings.TrimPrefix(path.Ext(c.path), ".")}
	for _, l := range lines {
		out = append(out, indented(c.indent, l))
	}
	return append(out, c.indent+fence)
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

func indented(indent, line string) string {
	if line == "" {
		return ""
	}
	return indent + line
}

// snippetForm matches a line of pymdownx.snippets: indentation, escapes, a
// mark, and a quoted path. Lines that begin or end a list of paths have no
// path.
var snippetForm = regexp.MustCompile(`^([ \t]*)(;*)-+8<-+(?:[ \t]+(?:"((?:\\"|[^"])+)"|'((?:\\'|[^'])+)'))?[ \t]*$`)

// sectionForm matches section marks in an included file.
var sectionForm = regexp.MustCompile(`(;?)-+8<-+[ \t]+\[[ \t]*(start|end)[ \t]*:[ \t]*([A-Za-z][-_0-9A-Za-z]*)[ \t]*\]`)

// sectionMark returns the section that a line begins or ends, or "".
func sectionMark(line string) (name string, begins bool) {
	if !strings.Contains(line, "8<-") {
		return "", false
	}
	m := sectionForm.FindStringSubmatch(line)
	if m == nil || m[1] != "" {
		return "", false
	}
	return m[3], m[2] == "start"
}

// snippet returns the replacement of line i, and the last line that it
// replaces.
func (in *includer) snippet(lines []string, i, depth int) ([]string, int) {
	m := snippetForm.FindStringSubmatch(lines[i])
	if m == nil {
		return lines[i : i+1], i
	}
	indent, quoted := m[1], m[3]+m[4]
	switch {
	case m[2] != "":
		return []string{indent + strings.Replace(lines[i][len(indent):], ";", "", 1)}, i
	case quoted != "":
		return in.snippetFile(indent, strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(quoted), depth), i
	}
	var out []string
	for n := i + 1; n < len(lines); n++ {
		if m := snippetForm.FindStringSubmatch(lines[n]); m != nil && m[2]+m[3]+m[4] == "" {
			return out, n
		}
		bare := strings.TrimSpace(lines[n])
		if bare == "" || strings.HasPrefix(bare, ";") {
			continue
		}
		inner, _, _ := strings.Cut(lines[n], strings.TrimLeft(lines[n], " \t"))
		out = append(out, in.snippetFile(inner, bare, depth)...)
	}
	return lines[i : i+1], i // an unterminated list is text
}

// snippetPlace matches a path and an optional suffix: ranges of lines, or a
// section name.
var snippetPlace = regexp.MustCompile(`^(.+?)(?::(-?[0-9]*(?::-?[0-9]*)?(?:,-?[0-9]*(?::-?[0-9]*)?)*)|:([A-Za-z][-_0-9A-Za-z]*))?$`)

// snippetFile returns the lines of an included file or of a part of it.
func (in *includer) snippetFile(indent, place string, depth int) []string {
	m := snippetPlace.FindStringSubmatch(place)
	if m == nil || depth == maxIncludeNested || strings.Contains(m[1], "://") {
		return nil
	}
	lines := in.file(m[1])
	switch {
	case m[3] != "":
		lines = snippetSection(lines, m[3])
	case m[2] != "":
		ranges := parseRanges(m[2])
		if len(ranges) == 1 && !strings.ContainsAny(m[2], ":,") {
			ranges[0].last = 0 // a single number is the first line
		}
		all := lines
		lines = nil
		for _, r := range ranges {
			lines = append(lines, r.of(all)...)
		}
	}
	lines = in.withinBudget(lines)
	var out []string
	for i := 0; i < len(lines); i++ {
		if name, _ := sectionMark(lines[i]); name != "" {
			continue
		}
		var inner []string
		inner, i = in.snippet(lines, i, depth+1)
		for _, l := range inner {
			out = append(out, indented(indent, l))
		}
	}
	return out
}

// snippetSection returns the lines between section marks.
func snippetSection(lines []string, name string) []string {
	first := -1
	for i, l := range lines {
		switch at, begins := sectionMark(l); {
		case at != name:
		case begins:
			first = i + 1
		case first >= 0:
			return lines[first:i]
		}
	}
	if first < 0 {
		return nil
	}
	return lines[first:]
}

// include returns the text of the file that a page includes by a path. The path
// is relative to the documents folder or to the folder of mkdocs.yml; which one
// the page does not show. include tries the folders around the page: the one
// with mkdocs.yml first, then from the page's own folder upward.
func (s Reader) include(page, target string) (string, error) {
	target = strings.ReplaceAll(target, `\`, "/")
	if path.IsAbs(target) || strings.Contains(target, ":") || strings.ContainsRune(target, 0) {
		return "", errNotIncluded
	}
	var folders []string
	for dir := path.Dir(page); ; dir = path.Dir(dir) {
		folders = append(folders, dir)
		if dir == "." {
			break
		}
	}
	for i, dir := range folders {
		if st, err := s.Root.Lstat(path.Join(dir, "mkdocs.yml")); err == nil && st.Mode().IsRegular() {
			folders = slices.Insert(slices.Delete(folders, i, i+1), 0, dir)
			break
		}
	}
	for _, dir := range folders {
		name := path.Join(dir, target)
		if name == ".." || strings.HasPrefix(name, "../") || name == page {
			continue
		}
		switch text, err := s.includeFile(name); {
		case err == nil:
			return text, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return "", fs.ErrNotExist
}

// includeFile reads an included file.
func (s Reader) includeFile(name string) (string, error) {
	if !s.Filter.KeepSecrets && secret.IsFile(name) || s.Filter.Excluded(name) {
		return "", errNotIncluded
	}
	var rules *ignores
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ".") {
			return "", errNotIncluded
		}
		if s.Filter.useIgnoreFiles {
			rules = readIgnores(s.Root, path.Join(".", path.Join(parts[:i]...)), rules)
			if rules.ignored(path.Join(parts[:i+1]...), i+1 < len(parts)) != "" {
				return "", errNotIncluded
			}
		}
	}
	f, err := atomicfile.OpenIn(s.Root, name, syscall.O_NONBLOCK)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxIncluded {
		return "", errNotIncluded
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIncluded))
	if err != nil {
		return "", err
	}
	text, err := document.DecodeText(data)
	return string(text), err
}

// IncludesDigest returns a digest of the files that a page includes by these
// paths; "" for no paths.
func (s Reader) IncludesDigest(page string, paths []string) string {
	states := make([]string, len(paths))
	for i, path := range paths {
		states[i] = contentState(s.include(page, path))
	}
	return source.Digest(states...)
}
