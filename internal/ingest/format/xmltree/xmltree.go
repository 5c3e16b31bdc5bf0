// Package xmltree parses an XML file into a tree, for the formats that are XML. Size and
// depth of a file are limited. It tolerates unknown entities and unbalanced tags.
package xmltree

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
)

// Limits of a file.
const (
	maxNodes  = 4_000_000
	maxNested = 1000
)

// A Node is an element or, without a name, a text.
type Node struct {
	Name  string // without its prefix
	Text  string
	Line  int // first line
	Attrs []xml.Attr
	Nodes []*Node
}

// Parse parses a file and returns its first element.
func Parse(data []byte) (*Node, error) {
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	entities := entitiesOf(data)
	d := xml.NewDecoder(bytes.NewReader(withoutUnknown(data, entities)))
	d.Strict, d.CharsetReader, d.Entity = false, charset.NewReaderLabel, entities
	open := []*Node{{}}
	for n := 0; ; n++ {
		line, _ := d.InputPos()
		token, err := d.RawToken()
		if err == io.EOF || err != nil && n > 0 && len(open[0].Nodes) > 0 {
			break // what follows an error is lost
		}
		if err != nil {
			return nil, fmt.Errorf("invalid XML: %w", err)
		}
		if n > maxNodes {
			return nil, errors.New("XML file with too many elements")
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxNested {
				return nil, fmt.Errorf("nested more than %d levels deep", maxNested)
			}
			child := &Node{Name: t.Name.Local, Line: line, Attrs: append([]xml.Attr(nil), t.Attr...)}
			top.Nodes = append(top.Nodes, child)
			open = append(open, child)
		case xml.EndElement:
			for i := len(open) - 1; i > 0; i-- {
				if open[i].Name == t.Name.Local {
					open = open[:i]
					break
				}
			}
		case xml.CharData:
			top.Nodes = append(top.Nodes, &Node{Text: string(t), Line: line})
		}
	}
	for _, n := range open[0].Nodes {
		if n.Name != "" {
			return n, nil
		}
	}
	return nil, errors.New("invalid XML: no element")
}

// entitiesOf returns the entities of HTML and the texts that a document type declares.
// Entities that are files are empty, and so are those that would repeat others.
func entitiesOf(data []byte) map[string]string {
	const most, longest, head = 10_000, 1000, 256 << 10
	entities := maps.Clone(xml.HTMLEntity)
	for _, part := range strings.Split(string(data[:min(len(data), head)]), "<!ENTITY")[1:] {
		name, rest, ok := strings.Cut(strings.TrimLeft(part, " \t\r\n"), " ")
		if rest = strings.TrimLeft(rest, " \t\r\n"); !ok || len(entities) >= most {
			continue
		}
		value := ""
		if quote := rest[:min(1, len(rest))]; quote == `"` || quote == "'" {
			value, _, _ = strings.Cut(rest[1:], quote)
		}
		if strings.ContainsAny(value, "<&") || len(value) > longest {
			value = ""
		}
		entities[name] = value
	}
	return entities
}

// withoutUnknown removes unknown entities, whose text is in other files.
func withoutUnknown(data []byte, known map[string]string) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); i++ {
		switch {
		case bytes.HasPrefix(data[i:], []byte("<![CDATA[")):
			end := bytes.Index(data[i:], []byte("]]>"))
			if end < 0 {
				i = len(data)
			} else {
				i += end
			}
		case data[i] == '&':
			const longest = 100
			end := bytes.IndexAny(data[i+1:min(len(data), i+longest)], "; \t\r\n<&\"'#")
			if end <= 0 || data[i+1+end] != ';' {
				continue
			}
			name := string(data[i+1 : i+1+end])
			if _, ok := known[name]; ok || slices.Contains([]string{"amp", "lt", "gt", "quot", "apos"}, name) {
				continue
			}
			out = append(out, data[done:i]...)
			i += end + 1
			done = i + 1
		}
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// Attr returns the value of an attribute, whatever its prefix.
func (n *Node) Attr(name string) string {
	if n != nil {
		for _, a := range n.Attrs {
			if a.Name.Local == name {
				return a.Value
			}
		}
	}
	return ""
}

// Child returns the first child element at the path of names; nil if there is none.
func (n *Node) Child(names ...string) *Node {
	for _, name := range names {
		var found *Node
		if n != nil {
			for _, c := range n.Nodes {
				if c.Name == name {
					found = c
					break
				}
			}
		}
		n = found
	}
	return n
}

// Find calls f for each element with that name, and not for those within one.
func (n *Node) Find(name string, f func(*Node)) {
	if n == nil {
		return
	}
	for _, c := range n.Nodes {
		if c.Name == name {
			f(c)
		} else {
			c.Find(name, f)
		}
	}
}

// Content returns the text of an element and of those within it.
func (n *Node) Content() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *Node) write(b *strings.Builder) {
	if n != nil {
		b.WriteString(n.Text)
		for _, c := range n.Nodes {
			c.write(b)
		}
	}
}
