// Package include replaces the directives of a text with the files that they include,
// in the dialects of Markdown, AsciiDoc, and reStructuredText. It works on lines, before
// the parser of the format, and knows the source line of each result line.
//
// A directive that names a missing file is removed and counted. An included file may
// have any type. Number, size, and nesting of the included files are limited.
package include

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// Limits of the files that one page includes.
const (
	maxIncludes = 500     // number of includes
	MaxIncluded = 1 << 20 // bytes, of one file and of all together
	maxNested   = 8
	maxRead     = 2000 // files looked for
)

// Files are the files of the source. They must confine the paths to it.
type Files interface {
	// Read returns the text of a file. A path with no file is fs.ErrNotExist.
	Read(name string) (string, error)
	// List returns the paths of the files in a folder and below.
	List(folder string) []string
}

// A Text is a page with the files that it includes.
type Text struct {
	Lines []string
	From  []int // line of the page for each line; nil if the page includes nothing

	Reads     []string // paths of the read files, and of those looked for in vain
	States    []string // content state of each path
	Parts     []string // files that are part of the page, whole or by a marked region
	Missing   []string // included files that were not found
	Reference []string // names whose documentation in source code was not found
}

// Absent returns the paths at which there was no file.
func (t Text) Absent() (names []string) {
	for i, name := range t.Reads {
		if t.States[i] == State("", fs.ErrNotExist) {
			names = append(names, name)
		}
	}
	return names
}

// State returns a digest of the result of Files.Read.
func State(text string, err error) string {
	if err != nil {
		return "none"
	}
	return "file " + source.Hash([]byte(text))
}

// A dialect replaces the directive that may begin on line i of a file.
type dialect interface {
	// mayInclude reports whether the line may have a directive.
	mayInclude(line string) bool
	// replace returns the replacement and the number of replaced lines, 0 if line i has no
	// directive.
	replace(f *file, i int) (out []string, n int)
}

// dialectOf returns the dialect of a file, or nil.
func dialectOf(name string) func(*expander) dialect {
	if isMarkdown(name) {
		return func(e *expander) dialect { return &markdown{expander: e} }
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".rst", ".rest":
		return func(e *expander) dialect { return &rest{expander: e} }
	case ".adoc", ".asciidoc":
		return func(e *expander) dialect { return &asciidoc{expander: e} }
	}
	return nil
}

// Reads reports whether a file with that name may include others.
func Reads(name string) bool { return dialectOf(name) != nil }

// Expand replaces the directives of a page.
func Expand(files Files, page string, lines []string) Text {
	e := &expander{files: files, page: page, left: MaxIncluded, texts: map[string]*text{}, lists: map[string][]string{}}
	e.python = python{modules: map[string]*pyMember{}, tops: map[string]string{}}
	dialect := dialectOf(page)
	if dialect == nil {
		return Text{Lines: lines}
	}
	e.dialect = dialect(e)
	if !slices.ContainsFunc(lines, e.dialect.mayInclude) {
		return Text{Lines: lines}
	}
	f := &file{name: page, lines: lines}
	e.Lines, e.From = []string{}, []int{}
	e.expand(f, func(line string, i int) {
		e.Lines, e.From = append(e.Lines, line), append(e.From, i+1)
	})
	return e.Text
}

// An expander holds the state of one page.
type expander struct {
	Text
	files      Files
	page       string
	texts      map[string]*text
	lists      map[string][]string // files by folder
	attributes map[string]string   // of AsciiDoc
	python     python
	current    string   // module of Python to which names belong
	defaults   *bool    // autodoc shows members unless told otherwise
	open       []string // files that are being expanded
	uses       int      // number of includes so far
	left       int      // remaining bytes
	dialect
}

type text struct {
	lines []string
	err   error
}

// A file is a file that is being expanded.
type file struct {
	name    string
	lines   []string
	fence   document.Fence
	inCode  bool              // the current line is code
	raw     bool              // the current line is within {% raw %}
	rust    bool              // the code is Rust
	level   int               // of the last heading of Markdown
	imports map[string]string // imported files by component
}

// expand calls emit for each line of the result, with the index of its line in f.
func (e *expander) expand(f *file, emit func(line string, i int)) {
	e.open = append(e.open, f.name)
	defer func() { e.open = e.open[:len(e.open)-1] }()
	for i := 0; i < len(f.lines); {
		out, n := e.replace(f, i)
		if n == 0 {
			out, n = f.lines[i:i+1], 1
		}
		for _, line := range out {
			emit(line, i)
		}
		i += n
	}
}

// nested returns the lines of an included file with its own directives replaced.
func (e *expander) nested(name string, lines []string) []string {
	dialect := dialectOf(name)
	if dialect == nil || len(e.open) > maxNested || slices.Contains(e.open, name) {
		return lines
	}
	outer := e.dialect
	defer func() { e.dialect = outer }()
	if e.dialect = dialect(e); !slices.ContainsFunc(lines, e.mayInclude) {
		return lines
	}
	var out []string
	e.expand(&file{name: name, lines: lines}, func(line string, _ int) { out = append(out, line) })
	return out
}

// A target is the file that a directive names.
type target struct {
	path    string
	first   string   // folder in which it is looked for first
	folders []string // in which it may be, below the page's folder or one around it
	part
}

func (t target) String() string {
	if t.region != "" {
		return t.path + "#" + t.region
	}
	return t.path
}

var (
	errNotIncluded = errors.New("not included")
	errCycle       = errors.New("includes itself")
)

// find returns the included file: the first that exists at the path, as seen from the folder
// of the file with the directive and then from the folders around it.
func (e *expander) find(from string, t target) (name string, lines []string, err error) {
	to := strings.ReplaceAll(strings.TrimSpace(t.path), `\`, "/")
	if to == "" || strings.ContainsAny(to, ":\x00") {
		return "", nil, errNotIncluded
	}
	if e.uses++; e.uses > maxIncludes {
		return "", nil, errNotIncluded
	}
	tried := len(e.Reads)
	for _, name := range t.candidates(from, to) {
		switch t := e.text(name); {
		case t.err == nil:
			e.forget(tried, name)
			return name, t.lines, nil
		case !errors.Is(t.err, fs.ErrNotExist):
			return "", nil, t.err
		}
	}
	return "", nil, fs.ErrNotExist
}

// candidates returns the paths at which the file may be, the most likely first.
func (t target) candidates(from, to string) []string {
	var names []string
	add := func(dir string) {
		name := path.Join(dir, to)
		if name != ".." && !strings.HasPrefix(name, "../") && name != "." && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if t.first != "" {
		add(t.first)
	}
	for _, within := range append([]string{""}, t.folders...) {
		for dir := range around(from) {
			add(path.Join(dir, within))
		}
	}
	return names
}

// around yields the folder of a file and those around it.
func around(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(name); yield(dir) && dir != "." && dir != "/"; dir = path.Dir(dir) {
		}
	}
}

// folderWith returns the nearest folder around the page with a file of that name, or "".
func (e *expander) folderWith(name string) string {
	for dir := range around(e.page) {
		if _, err := e.files.Read(path.Join(dir, name)); err == nil {
			return dir
		}
	}
	return ""
}

// text returns a file's lines.
func (e *expander) text(name string) *text {
	if t := e.texts[name]; t != nil {
		return t
	}
	if len(e.Reads) >= maxRead {
		return &text{err: errNotIncluded}
	}
	content, err := e.files.Read(name)
	t := &text{err: err}
	if err == nil {
		t.lines = document.SplitLines([]byte(content))
	}
	e.texts[name] = t
	e.Reads, e.States = append(e.Reads, name), append(e.States, State(content, err))
	return t
}

// list returns the files in a folder and below.
func (e *expander) list(folder string) []string {
	files, known := e.lists[folder]
	if !known {
		files = e.files.List(folder)
		e.lists[folder] = files
	}
	return files
}

// forget removes the paths from index tried on that were looked for before name was found:
// a page depends only on the file.
func (e *expander) forget(tried int, name string) {
	reads, states := e.Reads[tried:], e.States[tried:]
	e.Reads, e.States = e.Reads[:tried], e.States[:tried]
	for i, read := range reads {
		if read == name {
			e.Reads, e.States = append(e.Reads, name), append(e.States, states[i])
		} else {
			delete(e.texts, read)
		}
	}
}

// include returns the lines of the included file, without the marks of its regions.
func (e *expander) include(from string, t target) (name string, lines []string, err error) {
	name, lines, err = e.find(from, t)
	if err != nil {
		return "", nil, err
	}
	if slices.Contains(e.open, name) {
		return "", nil, errCycle
	}
	lines, ok := t.of(lines)
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if !ok || size > e.left {
		return "", nil, errNotIncluded
	}
	e.left -= size
	if (t.isPart(name) || e.isExample(name)) && !slices.Contains(e.Parts, name) {
		e.Parts = append(e.Parts, name)
	}
	return name, withoutMarks(lines), nil
}

// miss counts a file that was not found.
func (e *expander) miss(path string) {
	if path != "" {
		e.Missing = append(e.Missing, path)
	}
}

// indented returns the lines with the indentation of a directive.
func indented(indent string, lines []string) []string {
	if indent == "" {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if l != "" {
			out[i] = indent + l
		}
	}
	return out
}

// indentOf returns the spaces and tabs at the beginning of a line.
func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }
