// Package passage implements passages, the search results of docsearch: parts of
// documents. It reads and writes the lines of LEANN's passages file, and a table that
// finds passages by number, ID and document.
//
// A line is a JSON object in UTF-8, terminated by a newline:
//
//	{"id": "…", "text": "…", "metadata": {…}}
//
// LEANN ignores unknown metadata, so docsearch stores its own fields there:
//
//   - title, headings, url, path, start_line, end_line
//   - anchors: the anchors within the passage, its own first
//   - links: objects {"to", "text"}, where "to" is a URL or a path with an optional anchor
//   - terms: the documentation's index terms for the passage
//   - kind and flags: see Passage.Label
//   - edition: see Passage.Edition
//   - address and redirects: see Passage.Address and Passage.Redirects
//   - the fields of NoteMeta
//
// LEANN's own field for the path is file_path, so a line has the path there, too. If path
// is missing, LEANN's fields file_path, source and file_name are used.
//
// The passages remain in the passages file. The table contains the position and the
// checksum of each line. Standard library only, because the hook quotes passages in
// denials.
package passage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxLine is the longest line that is read as a passage, in bytes.
const MaxLine = 16 << 20

// A Passage is an indexed part of a document.
type Passage struct {
	ID        string
	Text      string
	Title     string   // of the document
	Headings  []string // from the document's first level down to the passage's own
	URL       string   // of the document, with the section's anchor if known
	Path      string   // of the file, as in the source
	Root      string   // start of Path: the source folder, with a slash; not stored
	StartLine int      // 1-based, 0: unknown
	EndLine   int      // inclusive
	Anchors   []string // anchors within the passage, its own first
	// Extra contains all other metadata.
	Extra map[string]json.RawMessage
}

// A Link is a link from a passage.
type Link struct {
	To   string `json:"to"` // key of a document, with an optional anchor
	Text string `json:"text,omitempty"`
}

// Links returns the links in the passage. It decodes them on each call, because only
// builds need them.
func (p *Passage) Links() []Link {
	links, _ := decode(p.Extra["links"], (*jsonReader).links)
	return links
}

// Terms returns the index terms of the documentation for the passage.
func (p *Passage) Terms() []string {
	terms, _ := decode(p.Extra["terms"], (*jsonReader).strings)
	return terms
}

// Edition returns the name and version of the documentation according to the document:
// "CMake 3.25.1 Documentation". Only the first passage of a document has it.
func (p *Passage) Edition() string {
	edition, _ := decode(p.Extra["edition"], (*jsonReader).string)
	return edition
}

// SetEdition sets the value of Edition.
func (p *Passage) SetEdition(edition string) { p.setIf("edition", edition, edition != "") }

// SetLinks sets the value of Links.
func (p *Passage) SetLinks(links []Link) { p.set("links", links, len(links)) }

// SetTerms sets the value of Terms.
func (p *Passage) SetTerms(terms []string) { p.set("terms", terms, len(terms)) }

func (p *Passage) set(key string, list any, n int) { p.setIf(key, list, n > 0) }

// setIf sets a metadata value if given is true, or else removes it.
func (p *Passage) setIf(key string, value any, given bool) {
	if !given {
		delete(p.Extra, key)
		return
	}
	if p.Extra == nil {
		p.Extra = make(map[string]json.RawMessage)
	}
	p.Extra[key] = appendJSON(nil, value)
}

// Document returns the key of the passage's document: its URL without the anchor, else
// its path, else "".
func (p *Passage) Document() string {
	if p.URL != "" {
		key, _, _ := strings.Cut(p.URL, "#")
		return key
	}
	return p.Path
}

// HeadingPath returns the name of the passage's document and the path of its headings in one
// line.
func (p *Passage) HeadingPath() string {
	path := p.Headings
	if len(path) > 0 && path[0] == p.Name() {
		path = path[1:]
	}
	return strings.Join(append([]string{p.Name()}, path...), " > ")
}

// Name returns the passage's name in lists: its document's title, else its heading,
// else its file name, else the start of its text.
func (p *Passage) Name() string {
	switch {
	case p.Title != "":
		return p.Title
	case len(p.Headings) > 0:
		return p.Headings[len(p.Headings)-1]
	case p.Document() != "":
		key := strings.TrimRight(p.Document(), "/")
		return key[strings.LastIndexAny(key, `/\`)+1:]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	const maxName = 80
	if len(line) > maxName {
		line = strings.ToValidUTF8(line[:maxName], "") + "…"
	}
	return line
}

// Locator returns the address of the passage: its URL, or its path with a line or an
// anchor, or its ID.
func (p *Passage) Locator() string {
	switch {
	case p.URL != "":
		return p.URL
	case p.Path != "" && p.StartLine > 0:
		return fmt.Sprintf("%s:%d", p.Path, p.StartLine)
	case p.Path != "" && len(p.Anchors) > 0:
		return p.Path + "#" + p.Anchors[0]
	case p.Path != "":
		return p.Path
	}
	return p.ID
}

// File returns the path of the passage's file, with the line if known, or "".
func (p *Passage) File() string {
	if p.Path != "" && p.StartLine > 0 {
		return fmt.Sprintf("%s:%d", p.Path, p.StartLine)
	}
	return p.Path
}

// Relative returns the path of the passage's file in the source folder, or "" if the file
// is not known to be in it.
func (p *Passage) Relative() string {
	file := p.Path[len(p.Root):]
	if isAbs(file) || hasScheme(file) {
		return ""
	}
	return file
}

// Decode decodes a line of a passages file. Metadata of a wrong type remains in Extra
// and is otherwise ignored. A line that is not an object or has no text is an error. If
// the passage has no ID, ID is empty: by LEANN's older rule the ID is the number of the
// line, which only the caller knows.
func Decode(line []byte) (Passage, error) {
	raw, ok := splitLine(line)
	if !ok {
		err := json.Unmarshal(line, &raw)
		var typeErr *json.UnmarshalTypeError
		if err != nil && (!errors.As(err, &typeErr) || typeErr.Field != "metadata") {
			return Passage{}, err
		}
	}
	if len(raw.Text) == 0 || string(raw.Text) == "null" {
		return Passage{}, errors.New(`no "text"`)
	}
	text, ok := decode(raw.Text, (*jsonReader).string)
	if !ok {
		return Passage{}, errors.New(`the "text" is not a string`)
	}
	p := Passage{Text: text, Extra: raw.Metadata, ID: scalar(raw.ID)}
	if p.ID == "" {
		p.ID = scalar(p.Extra["id"])
	}
	delete(p.Extra, "id")
	p.Title = p.takeString("title")
	p.takeLocation()
	p.Headings, p.Anchors = p.takeList("headings"), p.takeList("anchors")
	p.StartLine, p.EndLine = p.takeLine("start_line"), p.takeLine("end_line")
	if p.EndLine < p.StartLine {
		p.EndLine = p.StartLine
	}
	return p, nil
}

// DecodeLinks decodes only the document and the links of a line. It may return nothing
// if Decode would return an error.
func DecodeLinks(line []byte) (document string, links []Link) {
	raw, ok := splitLine(line)
	if !ok && json.Unmarshal(line, &raw) != nil {
		return "", nil
	}
	p := Passage{Extra: raw.Metadata}
	p.takeLocation()
	return p.Document(), p.Links()
}

// A rawLine is a line with undecoded values.
type rawLine struct {
	ID       json.RawMessage            `json:"id"`
	Text     json.RawMessage            `json:"text"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// DecodeID decodes only the ID of a line written by AppendLine.
func DecodeID(line []byte) (string, error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id": `))
	if !ok {
		return "", errors.New(`no "id" at the beginning`)
	}
	r := jsonReader{b: rest}
	id := r.string()
	if r.bad {
		return "", errors.New(`the "id" is not a string`)
	}
	return id, nil
}

// AppendLine appends the passage's line, including the newline, to b. The order of keys
// is fixed, so that equal passages produce equal bytes. Readers of packs restore lines with
// it, so another form of a line needs a new format of packs.
func (p *Passage) AppendLine(b []byte) []byte {
	b = append(b, `{"id": `...)
	b = appendString(b, p.ID)
	b = append(b, `, "text": `...)
	b = appendString(b, p.Text)
	b = append(b, `, "metadata": {`...)
	first := true
	add := func(key string, value any) {
		if !first {
			b = append(b, ", "...)
		}
		first = false
		b = appendString(b, key)
		b = append(b, ": "...)
		b = appendJSON(b, value)
	}
	if p.Title != "" {
		add("title", p.Title)
	}
	if len(p.Headings) > 0 {
		add("headings", p.Headings)
	}
	if p.URL != "" {
		add("url", p.URL)
	}
	if p.Path != "" {
		add("path", p.Path)
		if _, own := p.Extra["file_path"]; !own {
			add("file_path", p.Path)
		}
	}
	if p.StartLine > 0 {
		add("start_line", p.StartLine)
		add("end_line", p.EndLine)
	}
	if len(p.Anchors) > 0 {
		add("anchors", p.Anchors)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Extra)) {
		add(key, p.Extra[key])
	}
	return append(b, "}}\n"...)
}

// takeLocation moves the URL and path from Extra to their fields.
func (p *Passage) takeLocation() {
	p.URL = p.takeString("url")
	if !hasScheme(p.URL) {
		p.URL = ""
	}
	for _, key := range []string{"path", "file_path", "source", "file_name"} {
		if p.Path != "" {
			break
		}
		p.Path = p.takeString(key)
	}
	if file, ok := decode(p.Extra["file_path"], (*jsonReader).string); ok && file == p.Path {
		delete(p.Extra, "file_path")
	}
	if p.URL == "" && hasScheme(p.Path) {
		p.URL, p.Path = p.Path, ""
	}
}

// takeString removes a string from Extra and returns it.
func (p *Passage) takeString(key string) string {
	return take(p, key, (*jsonReader).string)
}

func (p *Passage) takeList(key string) []string { return take(p, key, (*jsonReader).strings) }

func (p *Passage) takeLine(key string) int {
	n, ok := decode(p.Extra[key], (*jsonReader).number)
	if !ok || n < 0 {
		return 0
	}
	delete(p.Extra, key)
	return n
}

func take[T any](p *Passage, key string, read func(*jsonReader) T) T {
	v, ok := decode(p.Extra[key], read)
	if ok {
		delete(p.Extra, key)
	}
	return v
}

// scalar returns the value of a JSON string or the digits of a number.
func scalar(v json.RawMessage) string {
	if s, ok := decode(v, (*jsonReader).string); ok {
		return s
	}
	var n json.Number
	if json.Unmarshal(v, &n) == nil {
		return n.String()
	}
	return ""
}

func hasScheme(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// appendJSON appends v as LEANN encodes it: without escaping for HTML.
func appendJSON(b []byte, v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Strings, integers and decoded JSON always encode.
		panic("docsearch: internal error: " + err.Error())
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}
