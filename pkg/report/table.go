package report

import (
	"math"
	"strings"
)

// Widths of the table layout, in terminal cells.
const (
	columnGap = 2
	barWidth  = 10 // a cell of a '#' bar is ten percent
	minText   = 8  // a text column is not shrunk below this unless its Min says so
)

// layout is a table's columns with their widths decided.
type layout struct {
	cells  [][]string // escaped texts by row, as they are before eliding
	widths []int      // by column, without the bar
	bars   bool       // there is room for the bar columns' bars
	right  []bool     // right-aligned
}

// table draws a table side by side if its numbers fit, else one line a cell.
func (p *printer) table(t Table) {
	l := p.layout(t)
	if p.fits(t, l) {
		p.sideBySide(t, l)
	} else {
		p.stacked(t, l)
	}
	if len(t.Rows) == 0 {
		p.line("(no rows)")
	}
	for _, reason := range t.absences() {
		p.wrapped("", "  ", oneLine(reason))
	}
	p.wrapped("", "", oneLine(t.Note))
}

// layout measures the table and shrinks what may shrink until it fits: the flexible columns, then the bars, then the
// other text columns.
func (p *printer) layout(t Table) layout {
	l := layout{cells: make([][]string, len(t.Rows)), bars: true}
	for i, row := range t.Rows {
		l.cells[i] = make([]string, len(t.Columns))
		for j, c := range t.Columns {
			l.cells[i][j] = c.text(cellAt(row, j))
		}
	}
	floors := make([]int, len(t.Columns))
	for j := range t.Columns {
		natural, floor := p.columnWidths(t, l, j)
		l.widths = append(l.widths, natural)
		l.right = append(l.right, t.rightAligned(j))
		floors[j] = floor
	}
	p.shrink(t, l, floors, true)
	if p.excess(t, l) > 0 || p.namesCollide(t, l) {
		l.bars = false
		// Without the bars there may be room again: start over from the natural widths.
		for j := range t.Columns {
			l.widths[j], _ = p.columnWidths(t, l, j)
		}
		p.shrink(t, l, floors, true)
		p.shrink(t, l, floors, false)
	}
	return l
}

// columnWidths returns the width that shows column j in full (text up to Column.Max and the line) and the least it may
// shrink to.
func (p *printer) columnWidths(t Table, l layout, j int) (natural, floor int) {
	c := t.Columns[j]
	text, fixed := 0, displayWidth(oneLine(c.Title))
	for i, row := range t.Rows {
		w := displayWidth(l.cells[i][j])
		if elidable(cellAt(row, j)) {
			text = max(text, w)
		} else {
			fixed = max(fixed, w)
		}
	}
	text = min(text, p.width)
	if c.Max > 0 {
		text = min(text, c.Max)
	}
	least := minText
	if c.Min > 0 {
		least = c.Min
	}
	natural = max(text, fixed)
	return natural, min(natural, max(fixed, least))
}

// namesCollide reports whether different names of a column would become the same: names that can be told apart are
// worth more than bars.
func (p *printer) namesCollide(t Table, l layout) bool {
	for j, c := range t.Columns {
		if c.Elide == ElideName && collide(t.texts(l, j), l.widths[j], p.ellipsis) {
			return true
		}
	}
	return false
}

// texts are the cells of a column.
func (t *Table) texts(l layout, j int) []string {
	out := make([]string, len(l.cells))
	for i := range l.cells {
		out[i] = l.cells[i][j]
	}
	return out
}

// excess is how many cells the table is too wide.
func (p *printer) excess(t Table, l layout) int {
	total := columnGap * (len(t.Columns) - 1)
	for j, c := range t.Columns {
		total += l.widths[j]
		if c.Bar && l.bars {
			total += 1 + barWidth
		}
	}
	return total - p.width
}

func (p *printer) fits(t Table, l layout) bool { return p.excess(t, l) <= 0 }

// shrink takes the excess from the columns whose Flex is as asked, one cell at a time from the widest above its floor
// (the last of equals, so that what comes first is kept longest).
func (p *printer) shrink(t Table, l layout, floors []int, flex bool) {
	for excess := p.excess(t, l); excess > 0; excess-- {
		widest := -1
		for j, c := range t.Columns {
			if c.Flex == flex && l.widths[j] > floors[j] && (widest < 0 || l.widths[j] >= l.widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			return
		}
		l.widths[widest]--
	}
}

func (p *printer) sideBySide(t Table, l layout) {
	titles := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		titles[j] = pad(oneLine(c.Title), l.widths[j], l.right[j])
		if c.Bar && l.bars {
			titles[j] += strings.Repeat(" ", 1+barWidth)
		}
	}
	names := map[int]map[string]string{} // what names are shortened to, by column
	for j, c := range t.Columns {
		if c.Elide == ElideName {
			names[j] = shortenNames(t.texts(l, j), l.widths[j], p.ellipsis)
		}
	}
	gap := strings.Repeat(" ", columnGap)
	p.styled(p.bold, strings.Join(titles, gap))
	for i, row := range t.Rows {
		line := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			cell := cellAt(row, j)
			text, isName := names[j][l.cells[i][j]]
			if !isName || !elidable(cell) {
				text = p.cellText(c, cell, l.cells[i][j], l.widths[j])
			}
			line[j] = pad(text, l.widths[j], l.right[j])
			if c.Bar && l.bars {
				line[j] += " " + pad(p.drawBar(cell), barWidth, false)
			}
		}
		p.line(strings.Join(line, gap))
	}
}

func (p *printer) cellText(c Column, cell Cell, text string, width int) string {
	if !elidable(cell) {
		return text
	}
	return elide(text, width, c.Elide, p.ellipsis)
}

// drawBar draws a number from 0 to 100 in barWidth cells, to the nearest cell or eighth of one. Anything else is blank.
func (p *printer) drawBar(cell Cell) string {
	x, ok := number(cell.Value)
	if !ok || !(x > 0) {
		return ""
	}
	parts := len(p.barParts) + 1
	n := int(math.Round(min(x, 100) / 100 * float64(barWidth*parts)))
	bar := strings.Repeat(p.bar, n/parts)
	if n%parts > 0 {
		bar += p.barParts[n%parts-1]
	}
	return bar
}

// stacked draws each row as lines of "title: value", wrapped, with a blank line between rows.
func (p *printer) stacked(t Table, l layout) {
	for i, row := range t.Rows {
		if i > 0 {
			p.line("")
		}
		for j, c := range t.Columns {
			if j >= len(row) {
				break
			}
			text := l.cells[i][j]
			if c.Max > 0 {
				text = p.cellText(c, row[j], text, c.Max)
			}
			p.wrapped("", "  ", oneLine(c.Title)+": "+text)
		}
	}
}
