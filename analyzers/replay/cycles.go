package replay

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// levels counts for every cycle how many waves are in some state, as binary
// digits in bitmaps: digit k of the count of a cycle is bit k's bitmap. Adding
// a stretch of cycles costs one step per word and carry.
type levels struct {
	pages map[int64]*levelPage
	last  *levelPage
	at    int64
	left  *int
	// full is set when a cycle held more than maxLevel waves.
	full bool
}

const (
	levelBits = 4
	// maxLevel is the most waves that one cycle can count: more than the 10
	// wave slots of a gfx9 SIMD. Source: LLVM AMDGPUBaseInfo.cpp,
	// getMaxWavesPerEU.
	maxLevel = 1<<levelBits - 1
)

type levelPage [levelBits]page

func newLevels(left *int) *levels {
	return &levels{pages: map[int64]*levelPage{}, at: -1, left: left}
}

// add counts one more wave in the cycles [from, to). It reports false once the
// allowance of pages is used up.
func (l *levels) add(from, to int64) bool {
	for from < to {
		no := from >> pageBits
		p := l.page(no)
		if p == nil {
			return false
		}
		end := min(to, (no+1)<<pageBits)
		l.full = p.add(uint(from&(1<<pageBits-1)), uint(end-no<<pageBits)) || l.full
		from = end
	}
	return true
}

func (l *levels) page(no int64) *levelPage {
	if no == l.at {
		return l.last
	}
	p := l.pages[no]
	if p == nil {
		if *l.left < levelBits {
			return nil
		}
		*l.left -= levelBits
		p = new(levelPage)
		l.pages[no] = p
	}
	l.last, l.at = p, no
	return p
}

// add counts the bits [from, to) once more; full reports a cycle that would
// not fit.
func (p *levelPage) add(from, to uint) (full bool) {
	first, last := from>>6, (to-1)>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		return p.carry(0, first, head&tail) != 0
	}
	over := p.carry(0, first, head) | p.carry(0, last, tail)
	for i := first + 1; i < last; i++ {
		over |= p.carry(0, i, ^uint64(0))
	}
	return over != 0
}

// carry adds mask at digit k of word i and returns the bits that overflow;
// those stay at the maximum.
func (p *levelPage) carry(k int, i uint, mask uint64) uint64 {
	for ; k < levelBits; k++ {
		digit := p[k][i]
		p[k][i] = digit ^ mask
		if mask &= digit; mask == 0 {
			return 0
		}
	}
	for k := range p {
		p[k][i] |= mask
	}
	return mask
}

// merge adds all counts of o.
func (l *levels) merge(o *levels) {
	l.full = l.full || o.full
	for no, p := range o.pages {
		mine := l.pages[no]
		if mine == nil {
			l.pages[no] = p
			continue
		}
		for k := range levelBits {
			for i, w := range p[k] {
				l.full = mine.carry(k, uint(i), w) != 0 || l.full
			}
		}
	}
	l.at, l.last = -1, nil
}

// Unit is how finely a cycle is shared out: a share of 1/n of a cycle is
// Unit/n, a whole number for every n up to 15.
const Unit = 360360

// Cycles are the cycles of one SIMD, by what its waves did in them. It is
// safe for use by several goroutines.
type Cycles struct {
	resident, issue           *bitmap
	valu, matrix, matrixIssue *bitmap
	stalled                   *levels
	loops                     []*bitmap

	exposed *weights
	gapOnce sync.Once
	gaps    *weights
}

// weights are running sums of the shares of each stalled wave over a set of
// cycles: the share of a cycle with n stalled waves is Unit/n.
type weights struct {
	pages map[int64]*weightPage
	// cycles is the size of the set, shared of its part with a stalled wave.
	cycles, shared int64
}

type weightPage struct {
	set    page
	levels *levelPage
	before [1<<(pageBits-6) + 1]int64
}

// newWeights makes the sums over the cycles with a wave resident and none
// issuing; with the matrix pipe idle as well, if off is set.
func newWeights(c *Cycles, off bool) *weights {
	w := &weights{pages: make(map[int64]*weightPage, len(c.resident.pages))}
	none, busy := &levelPage{}, &page{}
	for no, resident := range c.resident.pages {
		issue := c.issue.page0(no)
		if off {
			busy = c.matrix.page0(no)
		}
		p := &weightPage{levels: c.stalled.pages[no]}
		if p.levels == nil {
			p.levels = none
		}
		for i := range p.set {
			p.before[i+1] = p.before[i]
			p.set[i] = resident[i] &^ issue[i] &^ busy[i]
			if p.set[i] == 0 {
				continue
			}
			w.cycles += int64(bits.OnesCount64(p.set[i]))
			sum, shared := p.part(i, ^uint64(0))
			w.shared += shared
			p.before[i+1] += sum
		}
		w.pages[no] = p
	}
	return w
}

// part returns the share of one stalled wave in the masked cycles of a word,
// and how many of them have a stalled wave.
func (p *weightPage) part(i int, mask uint64) (sum, shared int64) {
	left := p.set[i] & mask
	if left == 0 {
		return 0, 0
	}
	l := p.levels
	left &= l[0][i] | l[1][i] | l[2][i] | l[3][i]
	shared = int64(bits.OnesCount64(left))
	for left != 0 {
		// The cycles with as many waves as the first one left.
		at := bits.TrailingZeros64(left)
		match, n := left, int64(0)
		for k := range levelBits {
			digit := l[k][i]
			if digit>>at&1 != 0 {
				match &= digit
				n |= 1 << k
			} else {
				match &^= digit
			}
		}
		sum += int64(bits.OnesCount64(match)) * (Unit / n)
		left &^= match
	}
	return sum, shared
}

// upTo returns the sum over the first n cycles of the page.
func (p *weightPage) upTo(n int64) int64 {
	i := int(n >> 6)
	sum := p.before[i]
	if rest := uint(n & 63); rest != 0 {
		part, _ := p.part(i, 1<<rest-1)
		sum += part
	}
	return sum
}

// summer looks up weights; it remembers the last page.
type summer struct {
	w    *weights
	no   int64
	page *weightPage
}

// sum returns the share of one wave that is stalled in [from, to).
func (s *summer) sum(from, to int64) int64 {
	var n int64
	for from < to {
		no := from >> pageBits
		end := min(to, (no+1)<<pageBits)
		if no != s.no || s.page == nil {
			s.no, s.page = no, s.w.pages[no]
		}
		if s.page != nil {
			n += s.page.upTo(end-no<<pageBits) - s.page.upTo(from-no<<pageBits)
		}
		from = end
	}
	return n
}

// page0 returns a page to read, an empty one where the set has none.
func (b *bitmap) page0(no int64) *page {
	if p := b.pages[no]; p != nil {
		return p
	}
	return &page{}
}

// countIn returns the number of cycles of the set in [from, to).
func (b *bitmap) countIn(from, to int64) int64 {
	if b == nil {
		return 0
	}
	var n int64
	for from < to {
		no := from >> pageBits
		end := min(to, (no+1)<<pageBits)
		if p := b.pages[no]; p != nil {
			n += p.countIn(uint(from-no<<pageBits), uint(end-no<<pageBits))
		}
		from = end
	}
	return n
}

func (p *page) countIn(from, to uint) int64 {
	first, last := from>>6, (to-1)>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		return int64(bits.OnesCount64(p[first] & head & tail))
	}
	n := bits.OnesCount64(p[first]&head) + bits.OnesCount64(p[last]&tail)
	for i := first + 1; i < last; i++ {
		n += bits.OnesCount64(p[i])
	}
	return int64(n)
}

// finish makes the sums of all SIMDs, over up to workers goroutines.
func (r *Replay) finish(workers int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(r.SIMDs)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(r.SIMDs); i = int(next.Add(1)) - 1 {
				if c := r.SIMDs[i].Cycles; c != nil {
					c.finish()
				}
			}
		})
	}
	wg.Wait()
}

// finish makes the sums; the sets must not change afterwards.
func (c *Cycles) finish() { c.exposed = newWeights(c, false) }

// gap returns the sums over the exposed cycles with the matrix pipe idle, nil
// without matrix instructions. They are made when they are first asked for.
func (c *Cycles) gap() *weights {
	c.gapOnce.Do(func() {
		if c.MatrixUsed() {
			c.gaps = newWeights(c, true)
		}
	})
	return c.gaps
}

// Exposed returns the number of cycles in which a wave was resident and none
// issued, and in how many of them at least one was stalled or draining; the
// others fall between the instructions of all its waves.
func (c *Cycles) Exposed() (all, stalled int64) { return c.exposed.cycles, c.exposed.shared }

// Sharer charges stalls with exposed cycles of one SIMD. It is used by one
// goroutine.
type Sharer struct {
	*Cycles
	all, off                  summer
	valu, matrixIssue, matrix pageReader
}

// pageReader reads a bitmap; it remembers the last page.
type pageReader struct {
	b    *bitmap
	no   int64
	page *page
}

func (r *pageReader) at(no int64) *page {
	if r.page == nil || no != r.no {
		r.no, r.page = no, r.b.page0(no)
	}
	return r.page
}

// NewSharer returns a Sharer; only with gaps it tells the cycles apart in
// which the matrix pipe was idle.
func (c *Cycles) NewSharer(gaps bool) *Sharer {
	s := &Sharer{
		Cycles: c, all: summer{w: c.exposed},
		valu: pageReader{b: c.valu}, matrixIssue: pageReader{b: c.matrixIssue}, matrix: pageReader{b: c.matrix},
	}
	if gaps {
		s.off.w = c.gap()
	}
	return s
}

// Share returns the part of the exposed cycles in [from, to) that a wave
// stalled throughout is charged with, in Units: each exposed cycle is shared
// equally among the waves that are stalled in it. gap counts the cycles in
// which the matrix pipe was idle as well; it is 0 without matrix instructions
// and for a Sharer without gaps.
func (s *Sharer) Share(from, to int64) (all, gap int64) {
	all = s.all.sum(from, to)
	if s.off.w != nil && all > 0 {
		gap = s.off.sum(from, to)
	}
	return all, gap
}

// Busy returns in how many of the cycles [from, to) of a stall of an
// instruction of a unit that unit was taken: by the issue of a vector or matrix
// instruction, which share a port, or, of the matrix pipe, by an instruction that
// keeps it.
func (s *Sharer) Busy(p Pipe, from, to int64) int64 {
	var n int64
	for from < to {
		no := from >> pageBits
		end := min(to, (no+1)<<pageBits)
		first, last := uint(from-no<<pageBits), uint(end-no<<pageBits)
		switch p {
		case MatrixPipe:
			n += s.matrix.at(no).countIn(first, last)
		case VectorALU:
			n += countEither(s.valu.at(no), s.matrixIssue.at(no), first, last)
		}
		from = end
	}
	return n
}

// countEither returns in how many of the bits [from, to) one of two pages is
// set.
func countEither(a, b *page, from, to uint) int64 {
	first, last := from>>6, (to-1)>>6
	n := 0
	for i := first; i <= last; i++ {
		w := a[i] | b[i]
		if i == first {
			w &= ^uint64(0) << (from & 63)
		}
		if i == last {
			w &= ^uint64(0) >> (63 - (to-1)&63)
		}
		n += bits.OnesCount64(w)
	}
	return int64(n)
}

// MatrixBusy returns in how many cycles the matrix pipe was busy: from the
// issue of a matrix instruction for the cycles of the cost table.
func (c *Cycles) MatrixBusy() int64 { return c.matrix.count() }

// MatrixUsed reports whether any matrix instruction of known cost ran.
func (c *Cycles) MatrixUsed() bool { return len(c.matrix.pages) > 0 }

// OffMatrix returns in how many of the cycles [from, to) the pipe was idle.
func (c *Cycles) OffMatrix(from, to int64) int64 {
	return max(to-from, 0) - c.matrix.countIn(from, to)
}

// LoopCycles are a SIMD's cycles with at least one wave inside a loop: all of
// them, those with the matrix pipe busy, and of the rest those in which no
// wave issued.
type LoopCycles struct {
	All, MatrixBusy, GapExposed int64
}

// Loop returns the cycles of loop l of flow.Flow.
func (c *Cycles) Loop(l int) LoopCycles {
	var out LoopCycles
	if l >= len(c.loops) || c.loops[l] == nil {
		return out
	}
	for no, p := range c.loops[l].pages {
		m, resident, issue := c.matrix.page0(no), c.resident.page0(no), c.issue.page0(no)
		for i, w := range p {
			out.All += int64(bits.OnesCount64(w))
			out.MatrixBusy += int64(bits.OnesCount64(w & m[i]))
			out.GapExposed += int64(bits.OnesCount64(w &^ m[i] & resident[i] &^ issue[i]))
		}
	}
	return out
}

// IssuingIn returns the share, 0 to 1, of the cycles [from, to) with a wave
// resident in which one issued.
func (c *Cycles) IssuingIn(from, to int64) float64 {
	resident := c.resident.countIn(from, to)
	if resident == 0 {
		return 0
	}
	return min(float64(c.issue.countIn(from, to))/float64(resident), 1)
}

// intersect returns the number of cycles in both sets.
func (b *bitmap) intersect(o *bitmap) int64 {
	var n int64
	for no, p := range b.pages {
		other := o.page0(no)
		for i, w := range p {
			n += int64(bits.OnesCount64(w & other[i]))
		}
	}
	return n
}
