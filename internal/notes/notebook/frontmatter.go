package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
)

// Fields are the keys of the front matter that a writer can set. It cannot set
// pinned and priority: those show a note in every session, or before others, and
// are for the user to decide.
type Fields struct {
	Title       string
	Tags        []string
	AppliesWhen passage.AppliesWhen
}

const (
	// maxField limits a title, a tag or a condition, in bytes; maxItems limits a
	// list.
	maxField = 200
	maxItems = 20
)

// keyedList is a list of the front matter with its key.
type keyedList struct {
	key   string
	items []string
}

// conditions returns the lists of applies_when.
func (f *Fields) conditions() []keyedList {
	w := &f.AppliesWhen
	return []keyedList{{"tools", w.Tools}, {"paths", w.Paths}, {"languages", w.Languages}, {"commands", w.Commands}}
}

// check returns an error unless the front matter can hold the fields.
func (f *Fields) check() error {
	if err := checkField("title", f.Title); err != nil {
		return err
	}
	for _, list := range append(f.conditions(), keyedList{"tags", f.Tags}) {
		if len(list.items) > maxItems {
			return fmt.Errorf("invalid %s: want at most %d items", list.key, maxItems)
		}
		for _, item := range list.items {
			if err := checkField(list.key, item); err != nil {
				return err
			}
			if item == "" {
				return fmt.Errorf("invalid %s: empty item", list.key)
			}
		}
	}
	return nil
}

// checkField returns an error unless s is one line of visible text.
func checkField(key, s string) error {
	unusable := func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029' }
	if len(s) > maxField || !utf8.ValidString(s) || strings.ContainsFunc(s, unusable) ||
		s != strings.Join(strings.Fields(s), " ") {
		return fmt.Errorf("invalid %s %q: want one line of at most %d bytes", key, short(s), maxField)
	}
	return nil
}

// encode returns the front matter of a new note.
func (f *Fields) encode() (string, error) {
	if f.Title == "" {
		return "", errors.New("the title of the note is empty")
	}
	return f.mergeInto(&yaml.Node{Kind: yaml.MappingNode})
}

// merge returns the front matter of a note with the fields that are set. It keeps the other
// keys and the comments.
func (f *Fields) merge(n *Note) (string, error) {
	if f.Title == "" && len(f.Tags) == 0 && f.AppliesWhen.Any() {
		return n.Front, nil
	}
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	if n.Front != "" {
		var doc yaml.Node
		lines := strings.Split(strings.TrimSuffix(n.Front, "\n"), "\n")
		err := yaml.Unmarshal([]byte(strings.Join(lines[1:len(lines)-1], "\n")), &doc)
		switch {
		case err != nil || strings.HasPrefix(n.Front, "+++") ||
			len(doc.Content) > 0 && doc.Content[0].Kind != yaml.MappingNode:
			return "", fmt.Errorf("cannot change the front matter of %s: want YAML; edit the file", n.Name)
		case len(doc.Content) > 0:
			mapping = doc.Content[0]
		}
	}
	return f.mergeInto(mapping)
}

// mergeInto sets the fields in a mapping and returns it as front matter.
func (f *Fields) mergeInto(mapping *yaml.Node) (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	if f.Title != "" {
		set(mapping, "title", text(f.Title))
	}
	if len(f.Tags) > 0 {
		set(mapping, "tags", sequence(f.Tags))
	}
	for _, list := range f.conditions() {
		if len(list.items) == 0 {
			continue
		}
		where := mapping
		if value(mapping, list.key) == nil { // some notes have it outside applies_when
			where = value(mapping, "applies_when")
			if where == nil || where.Kind != yaml.MappingNode {
				where = &yaml.Node{Kind: yaml.MappingNode}
				set(mapping, "applies_when", where)
			}
		}
		set(where, list.key, sequence(list.items))
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(mapping); err != nil {
		return "", err
	}
	front := "---\n" + b.String() + "---\n"
	return front, f.verify(front)
}

// verify returns an error unless a reader of the front matter finds the fields in
// it.
func (f *Fields) verify(front string) error {
	got := parse("", []byte(front+"\ntext\n"))
	same := got.Front == front && (f.Title == "" || got.Fields.Title == f.Title)
	for i, want := range f.conditions() {
		same = same && (len(want.items) == 0 || slices.Equal(got.Fields.conditions()[i].items, want.items))
	}
	if !same {
		return errors.New("invalid front matter: a reader would not find the same title and conditions; edit the file")
	}
	return nil
}

// value returns the value of a key in a mapping, or nil.
func value(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// set sets the value of a key in a mapping.
func set(mapping *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content[i+1] = v
			return
		}
	}
	mapping.Content = append(mapping.Content, text(key), v)
}

// text returns a string node, quoted where YAML would read another type.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func sequence(items []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range items {
		n.Content = append(n.Content, text(s))
	}
	return n
}

// parse returns the note in a file.
func parse(name string, data []byte) Note {
	n := Note{Name: name, Version: versionOf(data), Text: string(data)}
	decoded, err := document.DecodeText(data)
	var doc document.Document
	if err == nil {
		doc, err = markdown.Parse(decoded)
	}
	if err != nil {
		n.Problems = []string{err.Error()}
		return n
	}
	n.Fields = Fields{Title: doc.Title, Tags: doc.NoteMeta.Tags, AppliesWhen: doc.NoteMeta.AppliesWhen}
	n.Text = string(decoded)
	if front := markdown.FrontMatterLines(decoded); front > 0 {
		lines := strings.SplitAfterN(n.Text, "\n", front+1)
		n.Front, n.Text = strings.Join(lines[:front], ""), strings.Join(lines[front:], "")
	}
	for _, p := range doc.Notes {
		if !strings.HasPrefix(p.Text, markdown.TemplateMark) {
			n.Problems = append(n.Problems, name+p.Place+": "+p.Text)
		}
	}
	return n
}
