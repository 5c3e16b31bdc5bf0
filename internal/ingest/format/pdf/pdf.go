// Package pdf reads the text of PDF files as Markdown: what stands in a larger
// type is a heading, what stands in one of fixed width is code, and what repeats
// at the edges of pages is left out. Every page begins with an anchor, page=N,
// which viewers understand. Pictures of text stay pictures.
//
// A file is untrusted, and the library that reads its objects is not made for
// that. Where it panics at a page, that page is left out and named; the length of
// streams and what is read of them is limited. It may not end, or allocate more
// than there is: a Process keeps that apart.
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

// Limits of a file.
const (
	maxPages    = 5000
	maxStream   = 64 << 20  // bytes of a stream, decompressed
	maxStreams  = 512 << 20 // of all
	maxOperands = 2_000_000 // operators of a page
	maxText     = 4 << 20   // bytes of text on a page
	maxEffort   = 100 << 20 // operators and bytes of all pages: they may share what they show
)

// SkippedPage is a page without text, and why.
type SkippedPage struct {
	Page int
	Why  string
}

// Parse reads a file, and names the pages that it could not.
func Parse(data []byte) (doc mdwriter.Document, left []SkippedPage, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, left, err = mdwriter.Document{}, nil, errors.New("corrupt PDF file")
		}
	}()
	if err := checkStreams(data); err != nil {
		return mdwriter.Document{}, nil, err
	}
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return mdwriter.Document{}, nil, fmt.Errorf("no PDF file that can be read: %w", err)
	}
	n := r.NumPage()
	if n > maxPages {
		left = append(left, SkippedPage{maxPages + 1, fmt.Sprintf("pages beyond the first %d are not read", maxPages)})
		n = maxPages
	}
	var pages []page
	effort := 0
	for i := 1; i <= n; i++ {
		if effort > maxEffort {
			left = append(left, SkippedPage{i, "size limit reached; skipped the remaining pages"})
			break
		}
		p, err := readPage(r, i, &effort)
		if err != nil {
			left = append(left, SkippedPage{i, err.Error()})
			continue
		}
		pages = append(pages, p)
	}
	w := writer{}
	w.pages(pages)
	doc = w.Document()
	doc.Title = title(r.Trailer().Key("Info").Key("Title").Text(), doc.Sections)
	return doc, left, nil
}

// title is the one that the file gives itself, unless a program made it up of its
// own name; else the largest heading of the first page.
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

// checkStreams decompresses what is compressed once, to see that it does not
// become too much: the library has no limits. What is compressed twice has no
// reason to be.
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
			continue // not compressed
		}
		n, _ := io.Copy(io.Discard, io.LimitReader(z, maxStream+1))
		if all += n; n > maxStream || all > maxStreams {
			return fmt.Errorf("a PDF file whose streams decompress to more than %d MiB", min(n, maxStream)>>20)
		}
	}
}

var twice = regexp.MustCompile(`/Filter\s*\[[^\]]*(?:/Fl|/LZW|/RunLength|#)[^\]]*(?:/Fl|/LZW|/RunLength|#)`)

// A page is the lines of one.
type page struct {
	number int
	lines  []line
}

// A line is what stands side by side.
type line struct {
	text    string
	x, y    float64 // where it begins
	end     float64 // where it ends
	size    float64 // of most of its type
	fixed   int     // signs in a type of fixed width
	letters int     // signs
}

// errTooMuch ends a page that would not.
var errTooMuch = errors.New("too much on one page")

func readPage(r *pdf.Reader, number int, effort *int) (p page, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = errors.New("damaged")
			if errors.Is(r, errTooMuch) {
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
	t := &typesetter{page: v, fonts: map[string]*font{}, state: state{ctm: identity}}
	defer func() { *effort += t.operators + t.length }()
	pdf.Interpret(v.V.Key("Contents"), t.operator)
	for i := range t.lines {
		if t.lines[i].letters > 0 {
			p.lines = append(p.lines, t.lines[i])
		}
	}
	p.number = number
	return p, nil
}

// A writer makes sections of pages.
type writer struct {
	mdwriter.Writer
	body  float64   // size of the type of most of the text
	sizes []float64 // of headings, the largest first
	edges map[string]int
	level int
}

func (w *writer) pages(pages []page) {
	w.measure(pages)
	for i := range pages {
		p := &pages[i]
		lines := w.inner(p.lines, len(pages))
		if len(lines) == 0 {
			continue
		}
		w.page(lines, fmt.Sprintf("page=%d", p.number))
	}
}

// measure finds the sizes of type, and what repeats at the edges of pages.
func (w *writer) measure(pages []page) {
	signs := map[float64]int{}
	w.edges = map[string]int{}
	for _, p := range pages {
		for i := range p.lines {
			signs[rounded(p.lines[i].size)] += p.lines[i].letters
		}
		for _, edge := range edgesOf(p.lines) {
			w.edges[edge]++
		}
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

const edge = 2 // lines at the top and at the bottom that may repeat

// edgesOf are the first and last lines of a page, without their numbers.
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

// inner are a page's lines without those at its edges that many pages have.
func (w *writer) inner(lines []line, pages int) []line {
	var kept []line
	for i := range lines {
		atEdge := i < edge || i >= len(lines)-edge
		if n := w.edges[unnumbered(lines[i].text)]; atEdge && n >= 3 && n*4 >= pages {
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
			for n < len(lines) && w.levelOf(&lines[n]) == level && near(&lines[n-1], &lines[n], 1.6) {
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
			for n < len(lines) && w.levelOf(&lines[n]) == 0 && !lines[n].isCode() && near(&lines[n-1], &lines[n], 1.45) {
				n++
			}
			w.Text(paragraph(lines[i:n]), 0)
		}
		i = n
	}
}

// levelOf is the level of a heading, 0 if the line is none.
func (w *writer) levelOf(l *line) int {
	const longest = 120
	if l.letters < 2 || l.isCode() || len(l.text) > longest || !strings.ContainsFunc(l.text, unicode.IsLetter) {
		return 0
	}
	return slices.Index(w.sizes, rounded(l.size)) + 1
}

func (l *line) isCode() bool { return l.fixed > 0 && l.fixed*10 >= l.letters*9 }

// near reports whether a line follows another as lines of a paragraph do.
func near(a, b *line, factor float64) bool {
	gap := a.y - b.y
	return gap > 0 && gap < factor*math.Max(a.size, b.size)
}

// indented are lines of code, with spaces for how far each stands to the right.
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

// paragraph joins lines, and words that were parted at their ends.
func paragraph(lines []line) string {
	var b strings.Builder
	for i := range lines {
		text := strings.Join(strings.Fields(lines[i].text), " ")
		if i > 0 {
			b.WriteByte('\n')
		}
		if i+1 < len(lines) && parted(text) {
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

// parted reports whether a line ends within a word.
func parted(s string) bool {
	runes := []rune(s)
	n := len(runes)
	return n > 2 && runes[n-1] == '-' && unicode.IsLower(runes[n-2])
}
