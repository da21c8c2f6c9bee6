package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"
)

// busy is a status line on a terminal for work that takes over a second.
type busy struct {
	done chan struct{}
	wg   sync.WaitGroup
	once sync.Once
}

// busy starts the status line; on anything but a terminal it shows nothing.
func (a *app) busy(what string) *busy {
	b := &busy{done: make(chan struct{})}
	f, ok := a.stderr.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return b
	}
	b.wg.Add(1)
	go func() {
		defer b.wg.Done()
		b.draw(a.stderr, oneLine(what))
	}()
	return b
}

// stop clears the status line. It may be called more than once.
func (b *busy) stop() {
	b.once.Do(func() { close(b.done) })
	b.wg.Wait()
}

func (b *busy) draw(w io.Writer, what string) {
	const cleared = "\r\x1b[K"
	if len(what) > 60 {
		what = what[:57] + "..."
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-b.done:
			if n > 1 {
				fmt.Fprint(w, cleared)
			}
			return
		case <-tick.C:
			fmt.Fprintf(w, "%s%s, %d s", cleared, what, n)
		}
	}
}
