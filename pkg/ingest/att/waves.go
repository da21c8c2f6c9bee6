package att

import (
	"context"
	"errors"
	"io/fs"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxWaveNotes is how many wave files a report names.
const maxWaveNotes = 5

// Waves reads the wave files of one dispatch directory. It is safe for use by
// several goroutines at once.
type Waves struct {
	// Timeline asks for the waves' timelines, which are skipped otherwise.
	Timeline bool

	dir  *folder
	list []listedWave // sorted by file name
	v2   bool         // rocprofv2 wrote them
}

var _ trace.WaveSource = (*Waves)(nil)

// Listed is the number of waves that the trace lists.
func (s *Waves) Listed() int { return len(s.list) }

// Fold reads every wave once; see trace.WaveSource.
func (s *Waves) Fold(ctx context.Context, workers int, newFolder func() trace.Folder) (trace.WaveReport, error) {
	workers = max(1, min(workers, len(s.list)))
	reports := make([]trace.WaveReport, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range reports {
		folder := newFolder()
		wg.Go(func() { reports[i] = s.work(ctx, &next, folder) })
	}
	wg.Wait()
	return merge(reports), ctx.Err()
}

// work reads waves until none is left. The list is in order of file names and
// a worker takes its waves in that order, so that its first notes are the
// first by name as well.
func (s *Waves) work(ctx context.Context, next *atomic.Int64, folder trace.Folder) trace.WaveReport {
	var report trace.WaveReport
	var buf []byte
	r := waveReader{timeline: s.Timeline, v2: s.v2}
	for ctx.Err() == nil {
		i := int(next.Add(1)) - 1
		if i >= len(s.list) {
			break
		}
		var err error
		l := s.list[i]
		buf, err = s.dir.read(l.file, buf, maxWaveBytes)
		if errors.Is(err, fs.ErrNotExist) {
			report.Missing++
			s.note(&report, l.file, "listed, but there is no such file")
			continue
		}
		problem := ""
		if err != nil {
			problem = reason(err)
		} else {
			report.Bytes += int64(len(buf))
			problem = r.read(buf, l)
		}
		if problem != "" {
			report.Damaged++
			s.note(&report, l.file, problem+": the wave is left out")
			continue
		}
		folder.Wave(&r.wave)
		report.Read++
	}
	return report
}

func (s *Waves) note(report *trace.WaveReport, file, text string) {
	if len(report.Notes) < maxWaveNotes {
		report.Notes = append(report.Notes, trace.Note{Level: trace.Damage, File: below(s.dir.display, file), Text: text})
	}
}

// merge adds up the workers' reports; the result does not depend on who read
// what.
func merge(reports []trace.WaveReport) trace.WaveReport {
	var sum trace.WaveReport
	for _, r := range reports {
		sum.Read += r.Read
		sum.Missing += r.Missing
		sum.Damaged += r.Damaged
		sum.Bytes += r.Bytes
		sum.Notes = append(sum.Notes, r.Notes...)
	}
	sort.Slice(sum.Notes, func(i, j int) bool { return sum.Notes[i].File < sum.Notes[j].File })
	sum.Notes = sum.Notes[:min(len(sum.Notes), maxWaveNotes)]
	return sum
}
