package roofline

import (
	"fmt"
	"math"
	"strings"
)

// Size of the plot in characters, axes apart.
const (
	plotWidth  = 60
	plotHeight = 14
)

// decades spanned by the axes: operations per byte from 10^-1 to 10^4, and five
// decades of operations per second below the compute roof.
const (
	firstDecade = -1.0
	lastDecade  = 4.0
	yDecades    = 4.0
)

// plot draws the roof of the first point's arithmetic and the memory, and all
// points of the same arithmetic. It is nil without roofs.
func plot(r *Result) []string {
	if len(r.Points) == 0 || r.Points[0].PeakGFLOPs == nil {
		return nil
	}
	b := &builder{res: r}
	bw, ok := b.roof(r.Memory, levelHBM)
	if !ok {
		return nil
	}
	peak := *r.Points[0].PeakGFLOPs
	g := newGrid(math.Log10(peak) + 0.25)
	for x := range plotWidth {
		intensity := math.Pow(10, g.xValue(x))
		mark := byte('/')
		if intensity*bw >= peak {
			mark = '-'
		}
		g.set(x, math.Log10(min(peak, intensity*bw)), mark)
	}
	legend := g.points(r)
	lines := g.lines()
	lines = append(lines, fmt.Sprintf("%9s%-15s%-12s%-12s%-12s%s", "", "0.1", "1", "10", "100", "1000   FLOP/byte"))
	lines = append(lines, fmt.Sprintf("- %s %s   / HBM %.4g GB/s   ridge %.4g FLOP/byte", r.Points[0].Math, rate(peak), bw, peak/bw))
	return append(lines, legend...)
}

// grid is a canvas with logarithmic axes.
type grid struct {
	cells [plotHeight][plotWidth]byte
	top   float64 // log10 of the GFLOP/s at the upper edge
}

func newGrid(top float64) *grid {
	g := &grid{top: top}
	for y := range g.cells {
		for x := range g.cells[y] {
			g.cells[y][x] = ' '
		}
	}
	return g
}

func (g *grid) xValue(x int) float64 {
	return firstDecade + (lastDecade-firstDecade)*float64(x)/float64(plotWidth-1)
}

// set marks a value; what lies outside of the canvas is left out.
func (g *grid) set(x int, logY float64, mark byte) {
	y := int(math.Round((g.top - logY) / yDecades * float64(plotHeight-1)))
	if x >= 0 && x < plotWidth && y >= 0 && y < plotHeight {
		g.cells[y][x] = mark
	}
}

// points marks the points that have a time with letters, those without at
// their attainable rate with a circle, and returns the legend.
func (g *grid) points(r *Result) []string {
	var legend []string
	letter := byte('A')
	for i := range r.Points {
		p := &r.Points[i]
		if len(p.Levels) == 0 || p.Levels[0].Intensity <= 0 || letter > 'Z' {
			continue
		}
		l := &p.Levels[0]
		y, what := 0.0, ""
		switch {
		case p.AchievedGFLOPs != nil && *p.AchievedGFLOPs > 0:
			y, what = *p.AchievedGFLOPs, "achieved"
		case l.AttainableGFLOPs != nil:
			y, what = *l.AttainableGFLOPs, "attainable"
		default:
			continue
		}
		x := int(math.Round((math.Log10(l.Intensity) - firstDecade) / (lastDecade - firstDecade) * float64(plotWidth-1)))
		g.set(x, math.Log10(y), letter)
		legend = append(legend, fmt.Sprintf("%c %s: %s %s at %.4g FLOP/byte (%s)", letter, shorten(p.Name), what, rate(y), l.Intensity, l.Name))
		letter++
	}
	return legend
}

func shorten(name string) string {
	if len(name) > 24 {
		return strings.ToValidUTF8(name[:21], "") + "..."
	}
	return name
}

// lines draws the canvas with the rates at the left.
func (g *grid) lines() []string {
	out := make([]string, 0, plotHeight+1)
	for y := range g.cells {
		label := ""
		if y%4 == 0 {
			label = rateShort(math.Pow(10, g.top-yDecades*float64(y)/float64(plotHeight-1)))
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%8s|%s", label, g.cells[y][:]), " "))
	}
	return append(out, fmt.Sprintf("%8s+%s", "", strings.Repeat("-", plotWidth)))
}

func rateShort(g float64) string {
	if g >= 1000 {
		return fmt.Sprintf("%.3g T", g/1000)
	}
	return fmt.Sprintf("%.3g G", g)
}
