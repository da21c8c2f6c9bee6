package gpu

import "fmt"

// Point is a range of one resource over which the occupancy stays the same.
type Point struct {
	// From and To are the first and last amount of the range: VGPRs per
	// wave, LDS bytes per workgroup, or work-items per workgroup.
	From int `json:"from"`
	To   int `json:"to"`
	// Groups is workgroups per unit, WavesPerSIMD the mean over its SIMDs.
	Groups       int     `json:"workgroups_per_unit"`
	WavesPerSIMD float64 `json:"waves_per_simd"`
	// LimitedBy is what binds at To.
	LimitedBy []Resource `json:"limited_by"`
}

// Curve returns the occupancy over all amounts of one resource (VGPR, LDS or
// WorkgroupSize), the others as given, as its breakpoints in ascending order.
// VGPRs start at 1, LDS at 0 bytes, workgroups at one work-item; each ends at
// the most that a wave or workgroup can have. It fails as Occupancy does, and
// for any other resource.
func Curve(a Arch, r Resources, res Resource) ([]Point, error) {
	s, err := resolve(a, r)
	if err != nil {
		return nil, err
	}
	first, step, last := 1, 0, 0
	switch res {
	case VGPR:
		step, last = s.granule, s.addressable
	case LDS:
		first, step, last = 0, a.LDSGranule, a.LDSPerGroup
	case WorkgroupSize:
		step, last = s.wave, maxWorkgroup
	default:
		return nil, fmt.Errorf("no curve over %q: choose %s, %s or %s", string(res), VGPR, LDS, WorkgroupSize)
	}
	var out []Point
	for from := first; from <= last; {
		to := min(alignUp(max(from, 1), step), last)
		now := s.with(res, to).hardware()
		p := Point{From: from, To: to, Groups: now.Groups, WavesPerSIMD: now.WavesPerSIMD, LimitedBy: now.LimitedBy}
		if n := len(out); n > 0 && out[n-1].Groups == p.Groups && out[n-1].WavesPerSIMD == p.WavesPerSIMD {
			p.From = out[n-1].From
			out[n-1] = p
		} else {
			out = append(out, p)
		}
		from = to + 1
	}
	return out, nil
}
