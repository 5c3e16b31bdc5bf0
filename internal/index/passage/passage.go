// Package passage is the unit that docsearch finds: one piece of a document.
// It reads and writes the line that holds a passage in LEANN's passages file,
// and the table that finds passages by number, by id and by document.
//
// A line is a JSON object, UTF-8, ended by a newline:
//
//	{"id": "…", "text": "…", "metadata": {…}}
//
// LEANN (its own tool and format) ignores metadata it does not know, so that
// is where docsearch keeps what LEANN has no place for: title, headings, url,
// path, start_line, end_line; anchors, the fragments that lead into the
// passage, its own first; links, a list of {"to", "text"} objects, "to" being a
// URL or a path with or without an anchor; terms, what an index of the
// documentation calls the passage; kind and flags, what to tell with it of its
// document; edition, in the first passage of a document; and what a Use has. Of
// what LEANN itself writes, file_path, source and file_name are read where path is
// missing.
//
// The passages themselves stay where they are, in the passages file; the
// table holds where each line lies and its checksum. Standard library only,
// because the hook quotes passages in its denials.
package passage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxLine is the longest line that is read as a passage, in bytes.
const MaxLine = 16 << 20

// A Passage is one indexed piece of a document.
type Passage struct {
	ID        string
	Text      string
	Title     string   // of the document
	Headings  []string // from the document's first level down to the passage's own
	URL       string   // of the document, with the section's anchor where it is known
	Path      string   // of the file, as the source named it
	StartLine int      // 1-based, 0: unknown
	EndLine   int      // inclusive
	Anchors   []string // fragments that lead into the passage, its own first
	// Extra is the metadata beyond the above, for other parts to read.
	Extra map[string]json.RawMessage
}

// A Link leads from a passage to another place.
type Link struct {
	To   string `json:"to"` // a document's key, with or without "#" and an anchor
	Text string `json:"text,omitempty"`
}

// Links are where the passage leads. They are read on demand: only a build
// wants them.
func (p *Passage) Links() []Link {
	links, _ := decode(p.Extra["links"], (*reader).links)
	return links
}

// Terms are what the documentation's own index calls the passage.
func (p *Passage) Terms() []string {
	terms, _ := decode(p.Extra["terms"], (*reader).strings)
	return terms
}

// Edition is what the document calls the documentation that it is part of, with its
// version: "CMake 3.25.1 Documentation". Only the first passage of a document has it.
func (p *Passage) Edition() string {
	edition, _ := decode(p.Extra["edition"], (*reader).string)
	return edition
}

// SetEdition sets what Edition returns.
func (p *Passage) SetEdition(edition string) { p.setIf("edition", edition, edition != "") }

// SetLinks sets what Links returns.
func (p *Passage) SetLinks(links []Link) { p.set("links", links, len(links)) }

// SetTerms sets what Terms returns.
func (p *Passage) SetTerms(terms []string) { p.set("terms", terms, len(terms)) }

func (p *Passage) set(key string, list any, n int) { p.setIf(key, list, n > 0) }

// setIf sets a value of the metadata, or removes it.
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

// Document is the key of the document that the passage belongs to: its URL
// without the anchor, else its path; empty if the passage names no document.
func (p *Passage) Document() string {
	if p.URL != "" {
		key, _, _ := strings.Cut(p.URL, "#")
		return key
	}
	return p.Path
}

// Name is what to call the passage in a list: its document's title, else the
// heading it stands under, else its file's name, else how its text begins.
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
	const most = 80
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// Locator is what a reader follows to the passage: its URL, or its path with
// the line or the anchor, or failing both its id.
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

// Decode reads one line of a passages file. Metadata of a wrong type is kept
// in Extra and otherwise ignored; a line without an object or without a text
// is an error. A passage without an id gets the empty one: by LEANN's older
// rule the line's number is its id, which only the caller knows.
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
	text, ok := decode(raw.Text, (*reader).string)
	if !ok {
		return Passage{}, errors.New(`the "text" is no string`)
	}
	p := Passage{Text: text, Extra: raw.Metadata, ID: scalar(raw.ID)}
	if p.ID == "" {
		p.ID = scalar(p.Extra["id"])
	}
	delete(p.Extra, "id")
	p.Title = p.take("title")
	p.takePlace()
	p.Headings, p.Anchors = p.takeList("headings"), p.takeList("anchors")
	p.StartLine, p.EndLine = p.takeLine("start_line"), p.takeLine("end_line")
	if p.EndLine < p.StartLine {
		p.EndLine = p.StartLine
	}
	return p, nil
}

// DecodeLinks reads of a line only the document that the passage belongs to
// and where it leads. Of a line that Decode refuses it may return nothing.
func DecodeLinks(line []byte) (document string, links []Link) {
	raw, ok := splitLine(line)
	if !ok && json.Unmarshal(line, &raw) != nil {
		return "", nil
	}
	p := Passage{Extra: raw.Metadata}
	p.takePlace()
	return p.Document(), p.Links()
}

// A rawLine is a line with its values as they are written.
type rawLine struct {
	ID       json.RawMessage            `json:"id"`
	Text     json.RawMessage            `json:"text"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// DecodeID reads of a line that AppendLine wrote only the passage's id, with
// which it begins.
func DecodeID(line []byte) (string, error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id": `))
	if !ok {
		return "", errors.New(`no "id" at the beginning`)
	}
	r := reader{b: rest}
	id := r.string()
	if r.bad {
		return "", errors.New(`the "id" is no string`)
	}
	return id, nil
}

// AppendLine appends the passage's line, newline included, to b. Keys come in
// a fixed order, so that equal passages make equal bytes.
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
	}
	if p.StartLine > 0 {
		add("start_line", p.StartLine)
		add("end_line", p.EndLine)
	}
	if len(p.Anchors) > 0 {
		add("anchors", p.Anchors)
	}
	for _, key := range sortedKeys(p.Extra) {
		add(key, p.Extra[key])
	}
	return append(b, "}}\n"...)
}

// takePlace takes from Extra where the passage is from.
func (p *Passage) takePlace() {
	p.URL = p.take("url")
	if !hasScheme(p.URL) {
		p.URL = ""
	}
	for _, key := range []string{"path", "file_path", "source", "file_name"} {
		if p.Path != "" {
			break
		}
		p.Path = p.take(key)
	}
	if p.URL == "" && hasScheme(p.Path) {
		p.URL, p.Path = p.Path, ""
	}
}

// take removes a string from Extra and returns it.
func (p *Passage) take(key string) string {
	return take(p, key, (*reader).string)
}

func (p *Passage) takeList(key string) []string { return take(p, key, (*reader).strings) }

func (p *Passage) takeLine(key string) int {
	n, ok := decode(p.Extra[key], (*reader).number)
	if !ok || n < 0 {
		return 0
	}
	delete(p.Extra, key)
	return n
}

func take[T any](p *Passage, key string, read func(*reader) T) T {
	v, ok := decode(p.Extra[key], read)
	if ok {
		delete(p.Extra, key)
	}
	return v
}

// scalar is a JSON string's value or a number's digits.
func scalar(v json.RawMessage) string {
	if s, ok := decode(v, (*reader).string); ok {
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

// appendJSON writes v as LEANN does: without escaping what only HTML needs.
func appendJSON(b []byte, v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Strings, integers and JSON that was decoded before always encode.
		panic("docsearch: internal error: " + err.Error())
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
