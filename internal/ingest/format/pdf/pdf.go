// Package pdf converts the text of PDF files to Markdown. Larger type becomes
// headings, fixed-width type becomes code, and text that repeats at page edges
// is removed. Every page begins with the anchor page=N, which viewers support.
// It does not recognize text in images. Invisible text is kept separately, unless it is
// the text layer of a scanned page.
//
// Files are untrusted, and the library that parses their objects is not robust
// against hostile ones. If it panics at a page, the page is skipped with a
// note. Limits count work: bytes read from the file, streams, operators and text. The
// result is thus the same on a slow and on a busy machine. The library may also run forever
// without reading, or allocate unbounded memory: a Process isolates that.
package pdf

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// Limits for a file.
const (
	maxPages    = 5000
	maxStream   = 64 << 20  // bytes per stream, decompressed
	maxStreams  = 512 << 20 // for all streams
	maxOperands = 2_000_000 // operators per page
	maxText     = 4 << 20   // bytes of text per page
	maxEffort   = 100 << 20 // operators and bytes for all pages, which may share contents
	readFactor  = 500       // reads of a byte of the file, on average; manuals have up to 134
	minReads    = 32 << 20  // bytes that may be read from any file
	maxReads    = 4 << 30
)

// SkippedPage is a page without text, and the reason.
type SkippedPage struct {
	Page int
	Why  string
}

// Parse parses a file. It returns the skipped pages too.
func Parse(data []byte) (doc mdwriter.Document, left []SkippedPage, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, left, err = mdwriter.Document{}, nil, errors.New("corrupt PDF file")
			if r == errCircular {
				err = errCircular
			}
		}
	}()
	if err := checkStreams(data); err != nil {
		return mdwriter.Document{}, nil, err
	}
	file := &countedFile{data: bytes.NewReader(data), left: min(max(minReads, readFactor*int64(len(data))), maxReads)}
	r, err := pdf.NewReader(file, int64(len(data)))
	if file.left <= 0 {
		return mdwriter.Document{}, nil, errCircular
	}
	if err != nil {
		return mdwriter.Document{}, nil, fmt.Errorf("no PDF file that can be read: %w", err)
	}
	n := r.NumPage()
	if n > maxPages {
		left = append(left, SkippedPage{maxPages + 1, fmt.Sprintf("pages beyond the first %d are not read", maxPages)})
		n = maxPages
	}
	var pages []page
	var hidden []string
	layers := hiddenLayers(r.Trailer().Key("Root"))
	effort := 0
	for i := 1; i <= n; i++ {
		if effort > maxEffort || file.left <= 0 {
			left = append(left, SkippedPage{i, "size limit reached; skipped the remaining pages"})
			break
		}
		p, err := readPage(r, i, layers, &effort)
		if err != nil {
			left = append(left, SkippedPage{i, err.Error()})
			continue
		}
		pages = append(pages, p)
		if p.hidden != "" && len(hidden) < maxPages {
			hidden = append(hidden, p.hidden)
		}
	}
	w := writer{}
	w.pages(pages)
	doc = w.Document()
	doc.HiddenText = hidden
	doc.Title = title(r.Trailer().Key("Info").Key("Title").Text(), doc.Sections)
	return doc, left, nil
}

// A countedFile limits the bytes that the library reads. It reads an object again at each
// reference, and follows circular ones forever.
type countedFile struct {
	data *bytes.Reader
	left int64 // bytes that may still be read
}

var errCircular = errors.New("corrupt PDF file: its objects refer to each other in circles")

func (f *countedFile) ReadAt(b []byte, offset int64) (int, error) {
	if f.left <= 0 {
		panic(errCircular)
	}
	n, err := f.data.ReadAt(b, offset)
	f.left -= int64(n) + 1 // a read at the end takes time too
	return n, err
}

// title returns the title in the metadata, unless a program generated it from a
// file name; else the largest heading of the first page.
func title(given string, sections []mdwriter.Section) string {
	given = strings.Join(strings.Fields(given), " ")
	if !strings.HasPrefix(given, "Microsoft ") && !strings.HasSuffix(given, ".dvi") && strings.ContainsFunc(given, unicode.IsLetter) {
		return given
	}
	best := ""
	level := 0
	for _, s := range sections {
		if len(s.Anchors) == 0 || s.Anchors[0].Name != "page=1" {
			break
		}
		if s.Heading != "" && (best == "" || s.Level < level) {
			best, level = s.Heading, s.Level
		}
	}
	return best
}

// checkStreams decompresses all streams once to check their sizes, because the
// library has no limits. Streams that are compressed twice are rejected.
func checkStreams(data []byte) error {
	if twice.Match(data) {
		return errors.New("a PDF file with streams that are compressed twice")
	}
	all := int64(0)
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("stream"))
		if i < 0 {
			return nil
		}
		at += i + len("stream")
		z, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(data[at:], "\r\n")))
		if err != nil {
			continue // uncompressed
		}
		n, _ := io.Copy(io.Discard, io.LimitReader(z, maxStream+1))
		if all += n; n > maxStream || all > maxStreams {
			return fmt.Errorf("a PDF file whose streams decompress to more than %d MiB", min(n, maxStream)>>20)
		}
	}
}

var twice = regexp.MustCompile(`/Filter\s*\[[^\]]*(?:/Fl|/LZW|/RunLength|#)[^\]]*(?:/Fl|/LZW|/RunLength|#)`)

// A page holds the lines of a page.
type page struct {
	number int
	lines  []line
	hidden string // text that readers do not see, or that is below or above an image
}

// A line is a line of text.
type line struct {
	text    string
	x, y    float64 // start
	end     float64 // end
	size    float64 // dominant type size
	fixed   int     // characters in fixed-width type
	letters int     // characters
}

// errLimit ends a page that exceeds a limit.
var errLimit = errors.New("too much on one page")

func readPage(r *pdf.Reader, number int, layers map[string]bool, effort *int) (p page, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = errors.New("damaged")
			if errors.Is(r, errLimit) {
				err = r
			}
		default:
			err = errors.New("damaged")
		}
	}()
	v := r.Page(number)
	if v.V.IsNull() || v.V.Key("Contents").IsNull() {
		return page{number: number}, nil
	}
	t := &typesetter{page: v, fonts: map[string]*font{}, state: state{ctm: identity, look: firstLook},
		scene: scene{page: pageBox(v.V), path: noBox, layers: layers}}
	defer func() { *effort += t.operators + t.length }()
	pdf.Interpret(v.V.Key("Contents"), t.operator)
	lines, hidden := t.settle()
	for i := range lines {
		if lines[i].letters > 0 {
			p.lines = append(p.lines, lines[i])
		}
	}
	p.hidden = hidden
	p.number = number
	return p, nil
}

// A writer converts pages to sections.
type writer struct {
	mdwriter.Writer
	body  float64   // dominant type size of the document
	sizes []float64 // type sizes of headings, largest first
	edges map[string]int
	// margins holds the heights of running headers and footers.
	margins map[margin]bool
	level   int
}

// A margin is a height at which a line stands apart from the text, at the top or
// the bottom of a page.
type margin struct {
	bottom bool
	y      float64 // rounded
}

func (w *writer) pages(pages []page) {
	w.measure(pages)
	for i := range pages {
		p := &pages[i]
		lines := w.withoutEdges(p.lines, len(pages))
		if len(lines) == 0 {
			continue
		}
		w.page(lines, fmt.Sprintf("page=%d", p.number))
	}
}

// measure computes type sizes, and the lines that repeat at page edges.
func (w *writer) measure(pages []page) {
	signs := map[float64]int{}
	w.edges, w.margins = map[string]int{}, map[margin]bool{}
	apart := map[margin]int{}
	for _, p := range pages {
		for _, m := range marginsOf(p.lines) {
			apart[m]++
		}
		for i := range p.lines {
			signs[rounded(p.lines[i].size)] += p.lines[i].letters
		}
		for _, edge := range edgesOf(p.lines) {
			w.edges[edge]++
		}
	}
	for m, n := range apart {
		w.margins[m] = n >= 3 && n*2 >= len(pages)
	}
	for size, n := range signs {
		if most := signs[w.body]; n > most || n == most && size < w.body {
			w.body = size
		}
	}
	for size := range signs {
		if size >= w.body*1.12 {
			w.sizes = append(w.sizes, size)
		}
	}
	slices.Sort(w.sizes)
	slices.Reverse(w.sizes)
	const deepest = 4
	w.sizes = w.sizes[:min(len(w.sizes), deepest)]
}

func rounded(size float64) float64 { return math.Round(size*2) / 2 }

const edge = 2 // lines at the top and at the bottom

// marginsOf returns the margins of a page that have a line: white space sets its first
// or last line apart.
func marginsOf(lines []line) []margin {
	const same, factor = 2.0, 1.6 // points; of the type size
	var all []margin
	for _, bottom := range [...]bool{false, true} {
		at := func(i int) *line {
			if bottom {
				return &lines[len(lines)-1-i]
			}
			return &lines[i]
		}
		n := 0 // lines at the same height, such as a title and a page number
		for n < len(lines) && math.Abs(at(n).y-at(0).y) < same {
			n++
		}
		if n > edge || n == len(lines) {
			continue
		}
		if gap := math.Abs(at(n).y - at(0).y); gap > factor*math.Max(at(0).size, at(n).size) {
			all = append(all, margin{bottom, math.Round(at(0).y)})
		}
	}
	return all
}

// edgesOf returns the first and last lines of a page, without page numbers.
func edgesOf(lines []line) []string {
	var edges []string
	for i := range lines {
		if i < edge || i >= len(lines)-edge {
			edges = append(edges, unnumbered(lines[i].text))
		}
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

func unnumbered(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == ' ' {
			return -1
		}
		return r
	}, s)
}

// withoutEdges returns a page's lines without headers and footers: lines at its edges
// that repeat on a quarter of the pages, or within a margin on another page. Running
// headers change with the chapter.
func (w *writer) withoutEdges(lines []line, pages int) []line {
	var kept []line
	for i := range lines {
		atTop, atBottom, n := i < edge, i >= len(lines)-edge, 0
		if atTop || atBottom {
			n = w.edges[unnumbered(lines[i].text)]
		}
		y := math.Round(lines[i].y)
		inMargin := atTop && w.margins[margin{false, y}] || atBottom && w.margins[margin{true, y}]
		if n >= 3 && n*4 >= pages || n >= 2 && inMargin {
			continue
		}
		kept = append(kept, lines[i])
	}
	return kept
}

// page writes the lines of a page.
func (w *writer) page(lines []line, anchor string) {
	if w.levelOf(&lines[0]) == 0 {
		w.Resume(w.level)
		w.Anchor(anchor)
	}
	for i := 0; i < len(lines); {
		l := &lines[i]
		n := i + 1
		switch level := w.levelOf(l); {
		case level > 0:
			text := l.text
			for n < len(lines) && w.levelOf(&lines[n]) == level && sameParagraph(&lines[n-1], &lines[n], 1.6) {
				text += " " + lines[n].text
				n++
			}
			w.level = level
			w.Heading(level, text, 0)
			w.Anchor(anchor)
		case l.isCode():
			for n < len(lines) && lines[n].isCode() {
				n++
			}
			w.Code("", indented(lines[i:n]))
		default:
			for n < len(lines) && w.levelOf(&lines[n]) == 0 && !lines[n].isCode() && sameParagraph(&lines[n-1], &lines[n], 1.45) {
				n++
			}
			w.Text(paragraph(lines[i:n]), 0)
		}
		i = n
	}
}

// levelOf returns the heading level of a line, or 0.
func (w *writer) levelOf(l *line) int {
	const longest = 120
	if l.letters < 2 || l.isCode() || len(l.text) > longest || !strings.ContainsFunc(l.text, unicode.IsLetter) {
		return 0
	}
	return slices.Index(w.sizes, rounded(l.size)) + 1
}

func (l *line) isCode() bool { return l.fixed > 0 && l.fixed*10 >= l.letters*9 }

// sameParagraph reports whether the distance of two lines is that of lines in a
// paragraph.
func sameParagraph(a, b *line, factor float64) bool {
	gap := a.y - b.y
	return gap > 0 && gap < factor*math.Max(a.size, b.size)
}

// indented returns lines of code, indented by their position.
func indented(lines []line) []mdwriter.Line {
	left := lines[0].x
	for i := range lines {
		left = math.Min(left, lines[i].x)
	}
	var code []mdwriter.Line
	for i := range lines {
		l := &lines[i]
		const widest = 80
		n := 0
		if width := l.size * 0.6; width > 0 {
			n = int(math.Round(math.Min((l.x-left)/width, widest)))
		}
		if i > 0 && lines[i-1].y-l.y > 1.8*l.size {
			code = append(code, mdwriter.Line{})
		}
		code = append(code, mdwriter.Line{Text: strings.Repeat(" ", max(n, 0)) + strings.TrimRight(l.text, " ")})
	}
	return code
}

// paragraph joins lines and resolves hyphenation.
func paragraph(lines []line) string {
	var b strings.Builder
	for i := range lines {
		text := strings.Join(strings.Fields(lines[i].text), " ")
		if i > 0 {
			b.WriteByte('\n')
		}
		if i+1 < len(lines) && hyphenated(text) {
			next := strings.TrimSpace(lines[i+1].text)
			if first, rest, _ := strings.Cut(next, " "); first != "" && unicode.IsLower([]rune(first)[0]) {
				text = strings.TrimSuffix(text, "-") + first
				lines[i+1].text = rest
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// hyphenated reports whether a line ends within a word.
func hyphenated(s string) bool {
	runes := []rune(s)
	n := len(runes)
	return n > 2 && runes[n-1] == '-' && unicode.IsLower(runes[n-2])
}
