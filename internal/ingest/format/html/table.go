package html

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// A row is a table's.
type row struct {
	node   int32
	cells  []int32
	header bool // all cells are headers, or stand in thead
}

// maxColumns is how wide a table is written; cells beyond stand in the last
// column.
const maxColumns = 64

// table writes a table: as one of Markdown's where its cells fit on lines, as
// what is in it where it only lays out the page, and else row by row.
func (x *extractor) table(i int32) {
	rows := x.rows(i)
	for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
		if x.t.nodes[c].tag == atom.Caption && x.t.nodes[c].flags&(skipped|structural) == 0 {
			x.label(c)
		}
	}
	switch {
	case x.t.nodes[i].flags&structural != 0:
		x.sectionRows(rows)
	case x.laysOut(i, rows):
		x.layout(i)
	case x.holdsBlocks(rows):
		x.records(rows)
	default:
		x.grid(rows)
	}
}

// rows finds the rows of a table, those of tables in it left out. What stands
// in a table outside of a row is a row.
func (x *extractor) rows(table int32) []row {
	var rows []row
	var find func(i int32, head bool)
	find = func(i int32, head bool) {
		for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
			n := &x.t.nodes[c]
			switch {
			case n.flags&skipped != 0, n.tag == atom.Caption, n.tag == atom.Colgroup, n.tag == atom.Col:
			case n.tag == atom.Thead, n.tag == atom.Tbody, n.tag == atom.Tfoot, n.tag == atom.Form:
				x.meet(c)
				find(c, n.tag == atom.Thead)
			case n.tag == atom.Tr:
				r := row{node: c, header: true}
				for d := n.first; d != 0; d = x.t.nodes[d].next {
					cell := &x.t.nodes[d]
					if cell.flags&skipped != 0 || cell.tag != atom.Td && cell.tag != atom.Th && cell.textLen == 0 {
						continue
					}
					r.cells = append(r.cells, d)
					r.header = r.header && (head || cell.tag == atom.Th)
				}
				if len(r.cells) > 0 {
					rows = append(rows, r)
				}
			case n.textLen > 0:
				rows = append(rows, row{node: c, cells: []int32{c}})
			case n.element:
				x.meetAll(c)
			}
		}
	}
	find(table, false)
	return rows
}

// laysOut reports whether a table is there for the looks: no row has two
// cells with text and one has a block in it, or tables stand in it.
func (x *extractor) laysOut(table int32, rows []row) bool {
	if x.t.nodes[table].role&roleLayout != 0 {
		return true
	}
	most, headers := 0, 0
	for _, r := range rows {
		full := 0
		for _, c := range r.cells {
			if x.t.nodes[c].textLen > 0 {
				full++
			}
			if x.t.nodes[c].tag == atom.Th {
				headers++
			}
		}
		most = max(most, full)
	}
	return headers == 0 && (most <= 1 && len(rows) <= 2 || x.holdsAny(table, atom.Table))
}

// layout writes what is in the cells of a table.
func (x *extractor) layout(table int32) {
	for _, r := range x.rows(table) {
		for _, c := range r.cells {
			x.cell(c)
		}
	}
}

// cell writes what is in a cell, or text that stands in place of one.
func (x *extractor) cell(c int32) {
	x.meet(c)
	if x.isInline(c) {
		x.paragraph(x.inlineText(c, c))
		return
	}
	x.children(c)
}

// sectionRows writes a table that holds headings: the rows between them are
// tables of their own.
func (x *extractor) sectionRows(rows []row) {
	var plainRows []row
	write := func() {
		if x.holdsBlocks(plainRows) {
			x.records(plainRows)
		} else {
			x.grid(plainRows)
		}
		plainRows = nil
	}
	for _, r := range rows {
		if x.t.nodes[r.node].flags&structural == 0 {
			plainRows = append(plainRows, r)
			continue
		}
		write()
		x.meet(r.node)
		for _, c := range r.cells {
			x.cell(c)
		}
	}
	write()
}

// holdsBlocks reports whether a cell holds what cannot stand on a line: a
// table, or code of several lines.
func (x *extractor) holdsBlocks(rows []row) bool {
	for _, r := range rows {
		for _, c := range r.cells {
			for j := c; j < x.t.nodes[c].end; j++ {
				n := &x.t.nodes[j]
				switch {
				case n.flags&skipped != 0:
					j = n.end - 1
				case n.tag == atom.Table, n.role&roleLines != 0,
					n.tag == atom.Pre && strings.Contains(strings.TrimSpace(x.preText(j)), "\n"):
					return true
				}
			}
		}
	}
	return false
}

// records writes a table as a list of its rows, each cell behind the name of
// its column.
func (x *extractor) records(rows []row) {
	var columns []string
	for _, r := range rows {
		x.meet(r.node)
		if r.header && columns == nil {
			for _, c := range r.cells {
				columns = append(columns, x.plainText(c))
				x.meetAll(c)
			}
			if len(columns) == 1 {
				x.out().block("**" + columns[0] + "**")
			}
			continue
		}
		x.listItem("- ", func() {
			for k, c := range r.cells {
				if len(r.cells) > 1 && k < len(columns) && columns[k] != "" && x.t.nodes[c].textLen > 0 {
					x.lead += "**" + strings.TrimRight(columns[k], ":") + ":** "
				}
				x.cell(c)
				x.flushLead()
			}
		})
	}
}

// grid writes a table of Markdown. Without a header of its own it gets an
// empty one, for Markdown has no table without.
func (x *extractor) grid(rows []row) {
	var lines [][]string
	width := 0
	var down []int // rows that a cell above still reaches into, by column
	for _, r := range rows {
		cells := x.gridRow(r, &down)
		width = max(width, len(cells))
		lines = append(lines, cells)
	}
	if !anyText(lines) {
		return
	}
	var b strings.Builder
	if rows[0].header {
		writeRow(&b, lines[0], width, " ")
		lines = lines[1:]
	} else {
		writeRow(&b, nil, width, " ")
	}
	writeRow(&b, nil, width, "---")
	for _, cells := range lines {
		// Readers add the cells that are missing; few are worth the looks.
		const looks = 8
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		writeRow(&b, cells, max(len(cells), min(width, looks)), " ")
	}
	x.flushLead()
	w := x.out()
	if x.follows(w) {
		w.gap = line
	}
	w.block(strings.TrimSuffix(b.String(), "\n"))
}

// gridRow reads a row's cells, with an empty one where a cell reaches in from the
// row above or the column before. Cells beyond maxColumns are in the last.
func (x *extractor) gridRow(r row, down *[]int) []string {
	var cells, beyond []string
	skip := func() {
		for len(cells) < len(*down) && (*down)[len(cells)] > 0 {
			(*down)[len(cells)]--
			cells = append(cells, "")
		}
	}
	x.meet(r.node)
	for _, c := range r.cells {
		skip()
		text := x.gridCell(c, r.header)
		if len(cells) >= maxColumns {
			if text != "" {
				beyond = append(beyond, text)
			}
			continue
		}
		below := x.span(c, "rowspan") - 1
		for range min(x.span(c, "colspan"), maxColumns-len(cells)) {
			for len(*down) <= len(cells) {
				*down = append(*down, 0)
			}
			(*down)[len(cells)] = below
			cells = append(cells, text)
			text = ""
		}
	}
	skip()
	if len(beyond) > 0 {
		cells[maxColumns-1] = strings.Join(append(cells[maxColumns-1:maxColumns:maxColumns], beyond...), "; ")
	}
	return cells
}

// gridCell is the text of a cell.
func (x *extractor) gridCell(cell int32, header bool) string {
	x.meetAll(cell)
	text := x.flatText(cell)
	if header {
		text = x.plainText(cell)
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// span is how many rows or columns a cell covers.
func (x *extractor) span(cell int32, key string) int {
	n := 0
	for _, c := range x.t.attr(cell, key) {
		if c < '0' || c > '9' || n > 1000 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return max(n, 1)
}

func anyText(lines [][]string) bool {
	for _, cells := range lines {
		for _, c := range cells {
			if c != "" {
				return true
			}
		}
	}
	return false
}

// writeRow writes a row, with fill in place of a cell that is empty.
func writeRow(b *strings.Builder, cells []string, width int, fill string) {
	b.WriteByte('|')
	for k := range width {
		switch {
		case k < len(cells) && cells[k] != "":
			b.WriteByte(' ')
			b.WriteString(cells[k])
			b.WriteString(" |")
		case fill == "---":
			b.WriteString(" --- |")
		default:
			b.WriteString("  |")
		}
	}
	b.WriteByte('\n')
}
