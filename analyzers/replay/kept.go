package replay

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxKept is how many bytes of stalls are kept for a second look: enough for
// the waves of about a gigabyte of wave files, at 3 to 4 bytes a stall. The
// waves of larger traces are read from their files again, so that memory does
// not grow with the trace.
const maxKept = 64 << 20

// StallFolder takes in the stalls and drains of a trace's waves one at a time:
// cycles [from, to) of the clock of the SIMD's engine. It is used by one
// goroutine.
type StallFolder interface {
	Stall(s *SIMD, g Group, row int, from, to int64, drain bool)
}

// keptWave is a wave reduced to its stalls. They are written one behind the
// other as three varints each: how many rows further than the last one, and
// the drain in the lowest bit; how many cycles after the end of the last one,
// or the begin of the wave; how many cycles long. Stalls of a wave follow each
// other and are short, so that most take one byte each.
type keptWave struct {
	simd   simdID
	group  Group
	begin  int64
	stalls []byte
}

// keeper keeps the stalls of the waves that one worker reads, as long as those
// of all workers fit.
type keeper struct {
	left  *atomic.Int64 // bytes, shared by all workers
	waves []keptWave
	given bool // up
	// stalls are those of the wave that is being read, row and to the last of
	// them; block is where they go when it ends: one allocation serves many
	// waves.
	stalls, block []byte
	row           int
	to            int64
}

const keptBlock = 1 << 18

// start begins a wave.
func (k *keeper) start(w *trace.Wave, g Group) {
	if k.given {
		return
	}
	k.waves = append(k.waves, keptWave{simd: simdID{w.SE, w.CU, w.SIMD}, group: g, begin: w.Begin})
	k.stalls, k.row, k.to = k.stalls[:0], 0, w.Begin
}

// keep adds the stall and the drain of a row to the wave that was started.
func (k *keeper) keep(row int, x Spans) {
	k.add(row, x.Stall, 0)
	k.add(row, x.Drain, 1)
}

func (k *keeper) add(row int, span [2]int64, drain int64) {
	if k.given || span[0] >= span[1] {
		return
	}
	k.stalls = binary.AppendVarint(k.stalls, int64(row-k.row)<<1|drain)
	k.stalls = binary.AppendVarint(k.stalls, span[0]-k.to)
	k.stalls = binary.AppendUvarint(k.stalls, uint64(span[1]-span[0]))
	k.row, k.to = row, span[1]
}

// each visits the stalls of a wave.
func (w *keptWave) each(visit func(row int, from, to int64, drain bool)) {
	row, at := int64(0), w.begin
	for b := w.stalls; len(b) > 0; {
		step, n := binary.Varint(b)
		gap, m := binary.Varint(b[n:])
		length, o := binary.Uvarint(b[n+m:])
		b = b[n+m+o:]
		row += step >> 1
		from := at + gap
		at = from + int64(length)
		visit(int(row), from, at, step&1 != 0)
	}
}

// end closes the wave.
func (k *keeper) end() {
	if k.given {
		return
	}
	n := len(k.stalls)
	if k.left.Add(-int64(n)) < 0 {
		k.giveUp()
		return
	}
	if cap(k.block)-len(k.block) < n {
		k.block = make([]byte, 0, max(n, keptBlock))
	}
	at := len(k.block)
	k.block = append(k.block, k.stalls...)
	k.waves[len(k.waves)-1].stalls = k.block[at:len(k.block):len(k.block)]
}

func (k *keeper) giveUp() { k.waves, k.stalls, k.block, k.given = nil, nil, nil, true }

// Stalls hands every stall of the waves that the replay has read, and the
// drain of each s_endpgm, to folders over up to workers goroutines. It must
// only be called when every SIMD has Cycles.
func (r *Replay) Stalls(ctx context.Context, workers int, newFolder func() StallFolder) error {
	if r.kept == nil {
		return r.Fold(ctx, workers, func() trace.Folder {
			return &stallReader{replay: r, reader: r.NewReader(), to: newFolder()}
		})
	}
	var wg sync.WaitGroup
	byKeeper := func(k *keeper, folder StallFolder) {
		for i := range k.waves {
			w := &k.waves[i]
			replayKept(ctx, r.bySIMD[w.simd], []*keptWave{w}, folder)
		}
	}
	for i := range r.kept {
		folder := newFolder()
		wg.Go(func() { byKeeper(&r.kept[i], folder) })
	}
	wg.Wait()
	return ctx.Err()
}

// keptOf lists the kept waves of each of SIMDs.
func (r *Replay) keptOf() [][]*keptWave {
	at := make(map[simdID]int, len(r.SIMDs))
	for i := range r.SIMDs {
		at[simdID{r.SIMDs[i].SE, r.SIMDs[i].CU, r.SIMDs[i].SIMD}] = i
	}
	out := make([][]*keptWave, len(r.SIMDs))
	for i := range r.kept {
		for j := range r.kept[i].waves {
			w := &r.kept[i].waves[j]
			if k, ok := at[w.simd]; ok {
				out[k] = append(out[k], w)
			}
		}
	}
	return out
}

// replayKept hands the stalls of waves of one SIMD to a folder.
func replayKept(ctx context.Context, s *SIMD, waves []*keptWave, folder StallFolder) {
	for _, w := range waves {
		if ctx.Err() != nil || s == nil {
			return
		}
		w.each(func(row int, from, to int64, drain bool) { folder.Stall(s, w.group, row, from, to, drain) })
	}
}

// stallReader finds the stalls of waves that are read again.
type stallReader struct {
	replay *Replay
	reader *Reader
	to     StallFolder
}

// Wave hands over one wave's stalls.
func (f *stallReader) Wave(w *trace.Wave) {
	s := f.replay.SIMD(w)
	if s == nil {
		return
	}
	g := f.reader.Group(w)
	f.reader.Each(w, func(row int, _ *trace.Record, x Spans) {
		if x.Stall[1] > x.Stall[0] {
			f.to.Stall(s, g, row, x.Stall[0], x.Stall[1], false)
		}
		if x.Drain[1] > x.Drain[0] {
			f.to.Stall(s, g, row, x.Drain[0], x.Drain[1], true)
		}
	})
}

// Fold reads every wave again.
func (r *Replay) Fold(ctx context.Context, workers int, newFolder func() trace.Folder) error {
	_, err := r.source.Fold(ctx, workers, newFolder)
	return err
}
