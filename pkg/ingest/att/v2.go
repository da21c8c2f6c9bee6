package att

import (
	"context"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// fillIdle sums the idle time of each instruction over the waves, which
// rocprofv2 leaves to its reader: the time between the end of the instruction
// before and its own beginning.
func fillIdle(ctx context.Context, tt *trace.ThreadTrace) error {
	if tt.Waves == nil || len(tt.Code) == 0 {
		return nil
	}
	idle := make(idleFolder, tt.Code[len(tt.Code)-1].Line+1)
	// What is wrong with a wave is said when it is read for its own sake.
	_, err := tt.Waves.Fold(ctx, 1, func() trace.Folder { return idle })
	for i := range tt.Code {
		tt.Code[i].IdleCycles = idle[tt.Code[i].Line]
	}
	return err
}

// idleFolder holds idle cycles by line.
type idleFolder []int64

// Wave adds those of one wave.
func (f idleFolder) Wave(w *trace.Wave) {
	end := w.Begin
	for i := range w.Records {
		r := &w.Records[i]
		if r.Line > 0 && int(r.Line) < len(f) {
			f[r.Line] += max(r.Time-end, 0)
			end = max(end, r.Time+r.Duration)
		}
	}
}
