package format

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// A notebook is a Jupyter notebook.
type notebook struct {
	Cells      []cell `json:"cells"`
	Worksheets []struct {
		Cells []cell `json:"cells"`
	} `json:"worksheets"` // format version 3
	Metadata struct {
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

type cell struct {
	Type    string        `json:"cell_type"`
	Source  multilineText `json:"source"`
	Input   multilineText `json:"input"` // source of code cells in version 3
	Level   int           `json:"level"` // of heading cells
	Outputs []output      `json:"outputs"`
}

type output struct {
	Type string        `json:"output_type"`
	Text multilineText `json:"text"`
	Data struct {
		Plain multilineText `json:"text/plain"`
	} `json:"data"`
}

// multilineText is a text stored as a string or as a list of lines.
type multilineText string

func (j *multilineText) UnmarshalJSON(data []byte) error {
	var text string
	var list []string
	switch {
	case json.Unmarshal(data, &text) == nil:
		*j = multilineText(text)
	case json.Unmarshal(data, &list) == nil:
		*j = multilineText(strings.Join(list, ""))
	}
	return nil // ignore other types
}

// parseNotebook parses a notebook: its text, code, and short text outputs.
func parseNotebook(data []byte, _ string) (document.Document, error) {
	var n notebook
	if err := json.Unmarshal(document.FromUTF16(data), &n); err != nil {
		return document.Document{}, errors.New("invalid notebook: " + err.Error())
	}
	for _, w := range n.Worksheets {
		n.Cells = append(n.Cells, w.Cells...)
	}
	language := cmp.Or(n.Metadata.Language.Name, n.Metadata.Kernel.Language)
	if language == "" || strings.ContainsAny(language, " `\n") {
		language = "python"
	}
	var b strings.Builder
	for _, c := range n.Cells {
		switch c.Type {
		case "markdown":
			b.WriteString(strings.Trim(withoutData(string(c.Source)), "\n") + "\n\n")
		case "heading":
			b.WriteString(strings.Repeat("#", min(max(c.Level, 1), maxHeadingLevel)) + " " + string(c.Source) + "\n\n")
		case "code":
			writeFenced(&b, language, string(c.Source+c.Input))
			for _, o := range c.Outputs {
				writeFenced(&b, "", o.shortText())
			}
		}
	}
	text, err := document.DecodeText([]byte(b.String()))
	if err != nil {
		return document.Document{}, err
	}
	doc, err := markdown.Parse(text)
	doc.Converted = true
	return doc, err
}

// shortText returns the output's text if it is short and readable.
func (o output) shortText() string {
	text := strings.TrimSpace(string(o.Text + o.Data.Plain))
	const longest, most = 800, 12
	if o.Type == "error" || len(text) > longest || strings.Count(text, "\n") >= most || strings.HasPrefix(text, "<") {
		return ""
	}
	return text
}

// withoutData removes lines with embedded images.
func withoutData(text string) string {
	if !strings.Contains(text, ";base64,") {
		return text
	}
	var kept []string
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(l, ";base64,") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

func writeFenced(b *strings.Builder, language, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := mdwriter.Fence(text)
	b.WriteString(fence + language + "\n" + strings.Trim(text, "\n") + "\n" + fence + "\n\n")
}
