package markdown

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

var readmeMark = document.Lazily(`^\[block:([\w-]+)\]$`)

// A readmeBlock is the content of a block of ReadMe: [block:callout], JSON, [/block].
type readmeBlock struct {
	Title, Type, Body, Caption, HTML string

	Level  int
	Codes  []struct{ Code, Language, Name string }
	Images []struct{ Caption string }
	Cols   int
	Rows   int
	Data   map[string]string // cells: "h-0" of the header, "0-1" of the first row
}

// readmeText reduces a block of ReadMe.
func (r *reducer) readmeText(name string, show func(string) bool) bool {
	const longest = 4000
	end := r.at + 1
	for end < min(len(r.lines), r.at+longest) && strings.TrimSpace(r.lines[end]) != "[/block]" {
		end++
	}
	var b readmeBlock
	if end == len(r.lines) || r.lines[end] == "" ||
		json.Unmarshal([]byte(strings.Join(r.lines[r.at+1:end], "\n")), &b) != nil {
		return false
	}
	r.at = end
	var text string
	switch name {
	case "api-header":
		text = strings.Repeat("#", min(max(b.Level, 2), 6)) + " " + b.Title
	case "callout":
		text = admonitionLabel(b.Type, b.Title) + "\n" + b.Body
	case "parameters":
		text = b.table()
	case "code":
		for _, c := range b.Codes {
			if c.Name != "" {
				text += "\n**" + c.Name + "**\n"
			}
			text += r.verbatim(c.Code, c.Language)
		}
	case "html":
		text = anyTag().ReplaceAllString(b.HTML, " ")
	default:
		text = b.Title
		for _, image := range b.Images {
			text += "\n" + image.Caption
		}
	}
	return show("\n" + text + "\n\n")
}

// table returns the rows of a block as a table.
func (b *readmeBlock) table() string {
	const most = 1000
	var text strings.Builder
	row := func(key func(column int) string) {
		text.WriteString("\n|")
		for column := range min(b.Cols, most) {
			cell := strings.Join(strings.Fields(b.Data[key(column)]), " ")
			text.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
	}
	row(func(column int) string { return fmt.Sprintf("h-%d", column) })
	text.WriteString("\n|" + strings.Repeat(" --- |", min(max(b.Cols, 0), most)))
	for i := range min(b.Rows, most) {
		row(func(column int) string { return fmt.Sprintf("%d-%d", i, column) })
	}
	return text.String()
}
