package rst

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// table parses a grid table or a simple table.
func (p *parser) table(lines []mdwriter.Line) int {
	if s := lines[0].Text; strings.HasPrefix(s, "+-") && strings.Trim(s, "+-") == "" && strings.HasSuffix(s, "+") {
		return p.gridTable(lines)
	}
	if s := lines[0].Text; strings.HasPrefix(s, "==") && strings.Contains(s, " ") && strings.Trim(s, "= ") == "" {
		return p.simpleTable(lines)
	}
	return 0
}

// gridTable parses a grid table. Markdown cannot express cells that span
// columns or rows; such a table stays as it is drawn.
func (p *parser) gridTable(lines []mdwriter.Line) int {
	n := 0
	for n < len(lines) && lines[n].Text != "" && (lines[n].Text[0] == '+' || lines[n].Text[0] == '|') {
		n++
	}
	columns := columnsOf(lines[0].Text, '+')
	var rows []mdwriter.Row
	var row [][]string // lines of each cell
	from := 0
	for _, l := range lines[1:n] {
		switch s := []rune(l.Text); {
		case slices.Equal(columnsOf(l.Text, '+'), columns) && strings.Trim(l.Text, "+-=") == "":
			if row != nil {
				rows = append(rows, p.row(row, from))
				row = nil
			}
		case !cellsFit(s, columns):
			p.w.Code("", lines[:n])
			return n
		default:
			if row == nil {
				row, from = make([][]string, len(columns)-1), l.From
			}
			for c := range row {
				row[c] = append(row[c], strings.TrimSpace(string(s[columns[c]+1:columns[c+1]])))
			}
		}
	}
	p.w.Table(rows)
	return n
}

// columnsOf returns the positions of a mark in a line.
func columnsOf(s string, mark rune) []int {
	var places []int
	for i, r := range []rune(s) {
		if r == mark {
			places = append(places, i)
		}
	}
	return places
}

func cellsFit(s []rune, columns []int) bool {
	for _, c := range columns {
		if c >= len(s) || s[c] != '|' {
			return false
		}
	}
	return len(columns) > 1
}

// row returns the row for the lines of its cells.
func (p *parser) row(cells [][]string, from int) mdwriter.Row {
	row := mdwriter.Row{Cells: make([]string, len(cells)), From: from}
	for i, lines := range cells {
		row.Cells[i] = p.inline(strings.TrimSpace(strings.Join(lines, "\n")))
	}
	return row
}

// simpleTable parses a table between lines of equals signs, whose gaps separate
// the columns.
func (p *parser) simpleTable(lines []mdwriter.Line) int {
	border := func(s string) bool { return strings.HasPrefix(s, "==") && strings.Trim(s, "= ") == "" }
	// It ends with its second border, or with its third if it has a head: the
	// one followed by a blank line or nothing.
	if lines[0].From <= p.unclosed {
		return 0
	}
	const longest = 5000
	n := 1
	for n < min(len(lines), longest) && (!border(lines[n].Text) || n+1 < len(lines) && lines[n+1].Text != "") {
		if lines[n].Text == "" && n+1 < len(lines) && lines[n+1].Text == "" {
			return 0
		}
		n++
	}
	if n == min(len(lines), longest) {
		p.unclosed = lines[n-1].From
		return 0
	}
	var starts []int
	for i := range lines[0].Text {
		if lines[0].Text[i] == '=' && (i == 0 || lines[0].Text[i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	var rows []mdwriter.Row
	var row [][]string
	from := 0
	for _, l := range lines[1:n] {
		if l.Text == "" || border(l.Text) || strings.Trim(l.Text, "- ") == "" {
			continue
		}
		cells := cellsAt([]rune(l.Text), starts)
		// A line with an empty first cell continues the previous row.
		if cells[0] != "" || row == nil {
			if row != nil {
				rows = append(rows, p.row(row, from))
			}
			row, from = make([][]string, len(cells)), l.From
		}
		for i, c := range cells {
			row[i] = append(row[i], c)
		}
	}
	if row != nil {
		rows = append(rows, p.row(row, from))
	}
	p.w.Table(rows)
	return n + 1
}

// cellsAt splits a line at the column starts. The last column has no end.
func cellsAt(s []rune, starts []int) []string {
	cells := make([]string, len(starts))
	for i, from := range starts {
		to := len(s)
		if i+1 < len(starts) {
			to = min(starts[i+1], to)
		}
		if from < to {
			cells[i] = strings.TrimSpace(string(s[from:to]))
		}
	}
	return cells
}

// listTable converts a nested list to a table.
func (p *parser) listTable(lines []mdwriter.Line) {
	var rows []mdwriter.Row
	for i := 0; i < len(lines); {
		rest, ok := strings.CutPrefix(lines[i].Text, "* ")
		if !ok {
			i++
			continue
		}
		end := i + 1 + indented(lines[i+1:])
		row := append([]mdwriter.Line{{Text: rest, From: lines[i].From}}, mdwriter.CutIndent(lines[i+1:end], 2)...)
		var cells [][]string
		for _, l := range row {
			if cell, ok := strings.CutPrefix(l.Text, "-"); ok && (cell == "" || cell[0] == ' ') {
				cells = append(cells, []string{strings.TrimSpace(cell)})
			} else if n := len(cells); n > 0 {
				cells[n-1] = append(cells[n-1], strings.TrimSpace(l.Text))
			}
		}
		rows = append(rows, p.row(cells, lines[i].From))
		i = end
	}
	p.w.Table(rows)
}
