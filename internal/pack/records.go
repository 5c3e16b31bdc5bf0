package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Forms of an encoded chunk, in its first byte.
const (
	formLines   = 0
	formColumns = 1
)

// Columns of an encoded chunk.
const (
	columnText = iota
	columnID
	columnTitle
	columnHeadings
	columnURL
	columnFragment
	columnPath
	columnLines
	columnAnchors
	columnLinks
	columnExtra
	columnCount
)

// Marks in values. A passage with one of these bytes in a value does not survive the round
// trip, so its chunk has the form of lines.
const (
	end       = "\x00" // after each value
	separator = "\x01" // between the elements of a list
	derived   = "\x01" // a value that the reader derives
)

// encodeLines encodes the lines of a chunk. It uses columns if they are smaller and
// decodeLines restores every byte, or else the lines.
func encodeLines(lines []byte) []byte {
	if encoded, ok := encodeColumns(lines); ok && len(encoded) <= len(lines) {
		if again, err := decodeLines(nil, encoded, len(lines)); err == nil && bytes.Equal(again, lines) {
			return encoded
		}
	}
	return append([]byte{formLines}, lines...)
}

// decodeLines appends the lines of an encoded chunk to dst. They have size bytes.
func decodeLines(dst, encoded []byte, size int) ([]byte, error) {
	if len(encoded) == 0 {
		return nil, errors.New("empty chunk")
	}
	before := len(dst)
	var err error
	switch encoded[0] {
	case formLines:
		dst = append(dst, encoded[1:]...)
	case formColumns:
		dst, err = decodeColumns(dst, encoded[1:], size)
	default:
		err = errors.New("unknown form of a chunk")
	}
	if err == nil && len(dst)-before != size {
		err = errors.New("the size differs")
	}
	return dst, err
}

func encodeColumns(lines []byte) ([]byte, bool) {
	var columns [columnCount][]byte
	var before passage.Passage
	for line := range bytes.Lines(lines) {
		p, err := passage.Decode(line)
		if err != nil {
			return nil, false
		}
		for i, value := range values(&p, &before) {
			columns[i] = append(append(columns[i], value...), end...)
		}
		before = p
	}
	encoded := []byte{formColumns}
	for _, c := range columns {
		encoded = binary.AppendUvarint(encoded, uint64(len(c)))
	}
	return append(encoded, bytes.Join(columns[:], nil)...), true
}

// values returns the values of a passage in all columns.
func values(p, before *passage.Passage) (v [columnCount]string) {
	same := func(value, before string) string {
		if value == before {
			return derived
		}
		return value
	}
	v[columnText] = p.Text
	v[columnID] = same(p.ID, contentID(p))
	v[columnTitle] = same(p.Title, before.Title)
	shared := 0
	for shared < min(len(p.Headings), len(before.Headings)) && p.Headings[shared] == before.Headings[shared] {
		shared++
	}
	v[columnHeadings] = join(append([]string{strconv.Itoa(shared)}, p.Headings[shared:]...))
	page, fragment, _ := strings.Cut(p.URL, "#")
	v[columnURL] = same(page, documentURL(before))
	v[columnFragment] = same(fragment, anchorFragment(p))
	v[columnPath] = same(p.Path, before.Path)
	if p.StartLine > 0 {
		v[columnLines] = join([]string{strconv.Itoa(p.StartLine - before.EndLine),
			strconv.Itoa(p.EndLine - p.StartLine)})
	}
	v[columnAnchors] = join(p.Anchors)
	var list []string
	for _, l := range p.Links() {
		list = append(list, l.To, l.Text)
	}
	v[columnLinks] = join(list)
	list = nil
	for _, key := range slices.Sorted(maps.Keys(p.Extra)) {
		if key != "links" {
			list = append(list, key, string(p.Extra[key]))
		}
	}
	v[columnExtra] = join(list)
	return v
}

func decodeColumns(dst, encoded []byte, size int) ([]byte, error) {
	var lengths [columnCount]uint64
	for i := range lengths {
		n, used := binary.Uvarint(encoded)
		if used <= 0 {
			return nil, errors.New("invalid length of a column")
		}
		lengths[i], encoded = n, encoded[used:]
	}
	var columns [columnCount]string
	for i, n := range lengths {
		if n > uint64(len(encoded)) {
			return nil, errors.New("truncated column")
		}
		columns[i], encoded = string(encoded[:n]), encoded[n:]
	}
	limit := len(dst) + size
	var before passage.Passage
	for columns[columnText] != "" {
		var v [columnCount]string
		for i := range v {
			found := false
			if v[i], columns[i], found = strings.Cut(columns[i], end); !found {
				return nil, errors.New("truncated column")
			}
		}
		p, err := passageOf(&v, &before)
		if err != nil {
			return nil, err
		}
		// A derived value takes one byte here and any number in a line.
		if dst = p.AppendLine(dst); len(dst) > limit {
			return nil, errors.New("the size differs")
		}
		before = p
	}
	if len(encoded) > 0 || strings.Join(columns[:], "") != "" {
		return nil, errors.New("data after the last passage")
	}
	return dst, nil
}

// passageOf is the inverse of values.
func passageOf(v *[columnCount]string, before *passage.Passage) (passage.Passage, error) {
	same := func(value, before string) string {
		if value == derived {
			return before
		}
		return value
	}
	p := passage.Passage{
		Text: v[columnText], Title: same(v[columnTitle], before.Title), Path: same(v[columnPath], before.Path),
		Anchors: split(v[columnAnchors]),
	}
	headings := split(v[columnHeadings])
	shared := 0
	if len(headings) > 0 {
		shared, _ = strconv.Atoi(headings[0])
	}
	if len(headings) == 0 || shared < 0 || shared > len(before.Headings) {
		return p, errors.New("invalid headings")
	}
	p.Headings = slices.Concat(before.Headings[:shared], headings[1:])
	p.URL = same(v[columnURL], documentURL(before))
	if fragment := same(v[columnFragment], anchorFragment(&p)); fragment != "" {
		p.URL += "#" + fragment
	}
	if lines := split(v[columnLines]); len(lines) == 2 {
		distance, _ := strconv.Atoi(lines[0])
		count, _ := strconv.Atoi(lines[1])
		p.StartLine = before.EndLine + distance
		p.EndLine = p.StartLine + count
	}
	extra, links := split(v[columnExtra]), split(v[columnLinks])
	if len(extra)%2 != 0 || len(links)%2 != 0 {
		return p, errors.New("invalid list")
	}
	p.Extra = make(map[string]json.RawMessage, len(extra)/2+1)
	for pair := range slices.Chunk(extra, 2) {
		if !json.Valid([]byte(pair[1])) {
			return p, errors.New("invalid metadata")
		}
		p.Extra[pair[0]] = json.RawMessage(pair[1])
	}
	var list []passage.Link
	for pair := range slices.Chunk(links, 2) {
		list = append(list, passage.Link{To: pair[0], Text: pair[1]})
	}
	if list != nil {
		p.SetLinks(list)
	}
	p.ID = same(v[columnID], contentID(&p))
	return p, nil
}

func join(list []string) string { return strings.Join(list, separator) }

func split(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, separator)
}

// contentID returns the ID that docsearch gives to the passages of documents.
func contentID(p *passage.Passage) string {
	parts := slices.Concat([]string{p.Document()}, p.Headings, []string{p.Text})
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// documentURL returns a passage's URL without the fragment.
func documentURL(p *passage.Passage) string {
	page, _, _ := strings.Cut(p.URL, "#")
	return page
}

// anchorFragment returns the fragment for a passage's own anchor.
func anchorFragment(p *passage.Passage) string {
	if p.URL == "" || len(p.Anchors) == 0 {
		return ""
	}
	return (&url.URL{Fragment: p.Anchors[0]}).EscapedFragment()
}
