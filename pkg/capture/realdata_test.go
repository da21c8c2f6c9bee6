package capture_test

import (
	"os"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

const realData = "../../../shared/data/att/"

// TestRealLaunches holds rows of real captures against the waves that ran: the
// figures were counted from occupancy.json, realtime.json and the tables by
// another program. All rows but that of iree_wave are of another run.
func TestRealLaunches(t *testing.T) {
	for _, c := range []struct {
		dir                       string
		waves, scaled, grid       int64 // started, over the device, of the row
		spanUs, rowUs, durationUs float64
		calls                     int64
	}{
		{"blockscale_preshuffle_gemm", 56, 448, 448, 10.6, 13.160, 13.160, 0},
		{"flash_attn_func", 256, 2048, 2048, 85.2, 90.481, 90.481, 0},
		{"hgemm_splitk", 44, 352, 336, 5.7, 7.160, 7.160, 0},
		{"iree_wave_gfx950", 256, 256, 256, 0, 3.800, 3.800, 0},
		{"layernorm", 128, 1024, 1024, 2.5, 5.201, 5.201, 0},
		{"moe_gemm", 160, 1280, 1280, 67.5, 73.360, 73.360, 0},
		{"moe_reduce", 32768, 262144, 262144, 360.6, 378.163, 378.163, 0},
		{"pa", 512, 4096, 4096, 5.5, 7.920, 7.920, 0},
		{"pa_mqa_logits_fp4", 256, 2048, 2028, 26.8, 30.081, 30.081, 0},
		{"preshuffle_gemm", 512, 4096, 4096, 88.4, 91.721, 91.721, 0},
		{"rmsnorm", 512, 4096, 4096, 3.4, 8.080, 8.080, 0},
		{"topk_gating_softmax", 256, 2048, 2048, 4.7, 6.961, 6.961, 0},
		{"vec_add", 5000, 40000, 40000, 14.8, 19.240, 19.240, 0},
		{"flash_attn_func_recapture", 256, 2048, 0, 85.1, 0, 0, 0},
		{"schema31", 44, 352, 0, 5.7, 0, 0, 0},
	} {
		t.Run(c.dir, func(t *testing.T) {
			kernels := realKernels(t, c.dir)
			if len(kernels) != 1 || kernels[0].Ran == nil {
				t.Fatalf("%d kernels, waves unknown", len(kernels))
			}
			k := kernels[0]
			n, ok := k.Ran.InDispatch()
			if k.Ran.Waves != c.waves || !ok || n != c.scaled {
				t.Errorf("%d waves, %d in the dispatch; want %d and %d", k.Ran.Waves, n, c.waves, c.scaled)
			}
			if s := k.Ran.SpanNs; (s != nil) != (c.spanUs > 0) || s != nil && (*s/1000 < c.spanUs-0.05 || *s/1000 > c.spanUs+0.05) {
				t.Errorf("span %v, want %g us", s, c.spanUs)
			}
			if k.Companion == nil {
				if c.grid != 0 {
					t.Errorf("no row: %s", k.Why)
				}
				return
			}
			if grid, _ := k.Companion.WavesInDispatch(64); grid != c.grid {
				t.Errorf("the row has %d waves, want %d", grid, c.grid)
			}
			if row, _ := k.Companion.Launch.DurationNs(); float64(row)/1000 != c.rowUs {
				t.Errorf("the row took %d ns, want %g us", row, c.rowUs)
			}
			if d := k.Companion.Time; d == nil || float64(d.Ns)/1000 != c.durationUs || d.Calls != c.calls {
				t.Errorf("duration %+v, want %g us of %d calls", d, c.durationUs, c.calls)
			}
		})
	}
}

// realKernels reads a real capture with the tables beside it.
func realKernels(t *testing.T, dir string) []capture.Traced {
	t.Helper()
	if _, err := os.Stat(realData + dir); err != nil {
		t.Skip("the real captures are not here: ../shared/data/att")
	}
	tr, err := ingest.Open(t.Context(), []string{realData + dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	for _, a := range tr.ThreadTraces[0].Agents {
		arch, err := gpu.ArchByName(a.Gfx)
		if err != nil || arch.EnginesPerDie == 0 || a.Engines == nil || a.XCCs == nil {
			continue
		}
		if want := *a.XCCs * int64(arch.EnginesPerDie); *a.Engines != want {
			t.Errorf("%s has %d shader engines, by its architecture %d", a.Product, *a.Engines, want)
		}
	}
	c, err := capture.Resolve(tr, "")
	if err != nil || len(tr.ThreadTraces) != 1 {
		t.Fatal(err, len(tr.ThreadTraces))
	}
	return c.Trace(tr.ThreadTraces[0]).Kernels
}
