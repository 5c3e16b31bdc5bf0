package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// A row is a table row.
type row struct {
	node   int32
	cells  []int32
	header bool // all cells are headers, or the row is in thead
}

// maxColumns limits the width of a table; further cells are merged into the
// last column.
const maxColumns = 64

// table writes a table: as Markdown if its cells fit on lines, as blocks if it
// only controls layout, else row by row.
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
	case x.isLayoutTable(i, rows):
		x.layout(i)
	case x.holdsBlocks(rows):
		x.records(rows)
	default:
		x.grid(rows)
	}
}

// rows returns the rows of a table, without those of nested tables. Content
// outside of rows counts as a row.
func (x *extractor) rows(table int32) []row {
	var rows []row
	var find func(i int32, head bool)
	find = func(i int32, head bool) {
		for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
			n := &x.t.nodes[c]
			switch {
			case n.flags&skipped != 0, n.tag == atom.Caption, n.tag == atom.Colgroup, n.tag == atom.Col:
			case n.tag == atom.Thead, n.tag == atom.Tbody, n.tag == atom.Tfoot, n.tag == atom.Form:
				x.addAnchors(c)
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
				x.addAllAnchors(c)
			}
		}
	}
	find(table, false)
	return rows
}

// isLayoutTable reports whether a table only controls layout: no row has two cells
// with text and one has a block, or it contains tables.
func (x *extractor) isLayoutTable(table int32, rows []row) bool {
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

// layout writes the contents of the cells as blocks.
func (x *extractor) layout(table int32) {
	for _, r := range x.rows(table) {
		for _, c := range r.cells {
			x.cell(c)
		}
	}
}

// cell writes the contents of a cell, or text in its place.
func (x *extractor) cell(c int32) {
	x.addAnchors(c)
	if x.isInline(c) {
		x.paragraph(x.inlineText(c, c))
		return
	}
	x.children(c)
}

// sectionRows writes a table that contains headings: the rows between them
// become separate tables.
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
		x.addAnchors(r.node)
		for _, c := range r.cells {
			x.cell(c)
		}
	}
	write()
}

// holdsBlocks reports whether a cell has content that does not fit on a line: a
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

// records writes a table as a list of rows, each cell after its column name.
func (x *extractor) records(rows []row) {
	var columns []string
	for _, r := range rows {
		x.addAnchors(r.node)
		if r.header && columns == nil {
			for _, c := range r.cells {
				columns = append(columns, x.plainText(c))
				x.addAllAnchors(c)
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

// grid writes a Markdown table. Without a header it gets an empty one, which
// Markdown requires.
func (x *extractor) grid(rows []row) {
	var lines [][]string
	width := 0
	var down []int // remaining rows of cells that span rows, by column
	for _, r := range rows {
		cells := x.gridRow(r, &down)
		width = max(width, len(cells))
		lines = append(lines, cells)
	}
	if !slices.ContainsFunc(lines, func(cells []string) bool { return strings.Join(cells, "") != "" }) {
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
		// Readers add missing cells; wide tables are rarely worth padding.
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

// gridRow returns the cells of a row, with empty ones for spans from the row
// above or the column before. Cells beyond maxColumns go into the last column.
func (x *extractor) gridRow(r row, down *[]int) []string {
	var cells, beyond []string
	skip := func() {
		for len(cells) < len(*down) && (*down)[len(cells)] > 0 {
			(*down)[len(cells)]--
			cells = append(cells, "")
		}
	}
	x.addAnchors(r.node)
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

// gridCell returns the text of a cell.
func (x *extractor) gridCell(cell int32, header bool) string {
	x.addAllAnchors(cell)
	text := x.flatText(cell)
	if header {
		text = x.plainText(cell)
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// span returns how many rows or columns a cell covers.
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

// writeRow writes a row, with fill for empty cells.
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
