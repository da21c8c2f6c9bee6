package regime

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// Where no row tells how long a dispatch took, its waves alone make the bytes
// per time too many: they decide only if no launch could bring them below the
// threshold.
func TestLaunchTimeDecides(t *testing.T) {
	waves := int64(64)
	d := decider{limits: limits{bandwidth: 60, notMemory: 30}}
	for _, c := range []struct {
		ratio, ns, launch float64
		undecided         bool
	}{
		{0.85, 2500, 5000, true},    // 28 % with the launch
		{0.85, 25000, 5000, false},  // 71 %
		{0.72, 25000, 5000, false},  // 60 %, the threshold
		{0.719, 25000, 5000, true},  // 59.9 %
		{0.55, 2500, 5000, false},   // below the threshold by the waves alone
		{0.85, 2500, 0, false},      // a row tells
		{0.599, 100000, 100, false}, // below
	} {
		m := &TraceMeasure{
			Hot: &hotspots.Kernel{Waves: &hotspots.Waves{InDispatch: &waves}}, Device: &gpu.Device{MemoryGBps: 8000}, Fill: 1,
			DispatchRatio: &c.ratio, DispatchNs: c.ns, LaunchNs: c.launch,
		}
		levels := d.factsOf(m).levels
		if len(levels) != 1 || levels[0].Undecided != c.undecided {
			t.Errorf("%+v: %+v", c, levels)
		}
	}
}
