package notegaps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notebook"
)

// A Change is a change of a note, or a new note.
type Change struct {
	Fields  notebook.Fields // new values of keys; others are kept
	Without []string        // keys to remove
	Words   []string        // to remove from the title, the tags and the text
	New     bool            // the note is new
	Text    string          // of a new note; empty: the remedy of a failure, which the user knows
	Similar []string        // existing notes about the subject of a new note

	families []string // kinds of calls that it is for
}

// Apply returns the contents of the note after the change.
func (c *Change) Apply(n *notebook.Note, language string) (string, error) {
	changed, fields, without := *n, c.Fields, c.Without
	if c.New {
		changed = notebook.Note{Text: cmp.Or(c.Text, "Remedy") + "\n"}
	}
	if len(c.Words) > 0 {
		analyzer, err := lexical.NewAnalyzer(language)
		if err != nil {
			return "", err
		}
		words := analyzer.Highlighter(lexical.Query{Text: strings.Join(c.Words, " ")})
		changed.Text = withoutWords(words, changed.Text)
		if slices.ContainsFunc(n.Keys, func(k notebook.Key) bool { return k.Name == "title" }) {
			fields.Title = strings.Join(strings.Fields(strings.Trim(withoutWords(words, n.Fields.Title), " :,-")), " ")
		}
		for _, tag := range n.Fields.Tags {
			if len(words.Spans(tag)) == 0 {
				fields.Tags = append(fields.Tags, tag)
			}
		}
		if len(fields.Tags) == 0 {
			without = append(slices.Clone(without), "tags")
		}
	}
	return changed.With(fields, without...)
}

// withoutWords removes the words from a text.
func withoutWords(words *lexical.Highlighter, text string) string {
	var b strings.Builder
	end := 0
	for _, s := range words.Spans(text) {
		b.WriteString(text[end:s.Start])
		end = s.End
		if strings.HasPrefix(text[end:], " ") {
			end++
		}
	}
	return b.String() + text[end:]
}

// copy returns a change that can be extended.
func (c *Change) copy() Change {
	d := *c
	d.Without, d.families, d.Fields.Tags = slices.Clone(c.Without), slices.Clone(c.families), slices.Clone(c.Fields.Tags)
	return d
}

// add adds a value to the list of a condition, which is that of the note until it is
// changed.
func (c *Change) add(n *notebook.Note, key string, values ...string) {
	list, old := condition(&c.Fields.AppliesWhen, key), condition(&n.Fields.AppliesWhen, key)
	if len(*list) == 0 {
		*list = slices.Clone(*old)
	}
	*list = slices.Clone(*list)
	for _, v := range values {
		if !slices.Contains(*list, v) {
			*list = append(*list, v)
		}
	}
}

// conditions returns the conditions of the note after the change.
func (c *Change) conditions(n *notebook.Note) passage.AppliesWhen {
	w := n.Fields.AppliesWhen
	for _, key := range conditionKeys {
		if list := *condition(&c.Fields.AppliesWhen, key); len(list) > 0 {
			*condition(&w, key) = list
		}
	}
	return w
}

var conditionKeys = [...]string{"paths", "commands", "languages", "tools"}

// condition returns the list of a key of applies_when.
func condition(w *passage.AppliesWhen, key string) *[]string {
	switch key {
	case "tools":
		return &w.Tools
	case "paths":
		return &w.Paths
	case "languages":
		return &w.Languages
	}
	return &w.Commands
}
