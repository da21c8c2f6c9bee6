package replay

import "math/bits"

// bitmap is a set of clock cycles in pages, so that a busy stretch costs one
// bit a cycle wherever on the clock it lies. Sets of several workers are
// joined by or: the result does not depend on who saw which wave.
type bitmap struct {
	pages map[int64]*page
	last  *page
	at    int64
	left  *int
}

const pageBits = 16

type page [1 << (pageBits - 6)]uint64

// newBitmap makes an empty set that draws its pages from a shared allowance.
func newBitmap(left *int) *bitmap {
	return &bitmap{pages: map[int64]*page{}, at: -1, left: left}
}

// set adds the cycles [from, to). It reports false, and adds nothing more,
// once the allowance of pages is used up.
func (b *bitmap) set(from, to int64) bool {
	for from < to {
		no := from >> pageBits
		p := b.page(no)
		if p == nil {
			return false
		}
		end := min(to, (no+1)<<pageBits)
		p.set(uint(from&(1<<pageBits-1)), uint(end-no<<pageBits))
		from = end
	}
	return true
}

func (b *bitmap) page(no int64) *page {
	if no == b.at {
		return b.last
	}
	p := b.pages[no]
	if p == nil {
		if *b.left <= 0 {
			return nil
		}
		*b.left--
		p = new(page)
		b.pages[no] = p
	}
	b.last, b.at = p, no
	return p
}

// set adds the bits [from, to) of a page.
func (p *page) set(from, to uint) {
	first, last := from>>6, (to-1)>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		p[first] |= head & tail
		return
	}
	p[first] |= head
	for i := first + 1; i < last; i++ {
		p[i] = ^uint64(0)
	}
	p[last] |= tail
}

// merge adds all cycles of o.
func (b *bitmap) merge(o *bitmap) {
	for no, p := range o.pages {
		mine := b.pages[no]
		if mine == nil {
			b.pages[no] = p
			continue
		}
		for i, w := range p {
			mine[i] |= w
		}
	}
	b.at, b.last = -1, nil
}

// count returns the number of cycles in the set.
func (b *bitmap) count() int64 {
	var n int64
	for _, p := range b.pages {
		for _, w := range p {
			n += int64(bits.OnesCount64(w))
		}
	}
	return n
}
