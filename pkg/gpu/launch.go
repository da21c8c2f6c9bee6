package gpu

import "fmt"

// LaunchShape says how a grid covers a device.
type LaunchShape struct {
	Workgroups    int64 `json:"-"`
	WorkgroupSize int   `json:"workgroup_size"`
	CUs           int   `json:"cus"`
	// Unit is "CU" or "WGP"; Units is how many the device has.
	Unit  string `json:"unit"`
	Units int    `json:"unit_count"`
	// GroupsPerCU is workgroups / CUs over the whole launch.
	GroupsPerCU float64 `json:"workgroups_per_cu"`
	// Slots is how many workgroups are resident on the whole device at once.
	Slots int64 `json:"resident_workgroups"`
	// Rounds is workgroups / slots rounded up, if all take equally long.
	Rounds int64 `json:"rounds"`
	// LastRoundPct is how full the last round is, TailPct the share of all
	// slot-rounds that stays empty; both in percent, 0 when none fits.
	LastRoundPct float64 `json:"last_round_fill_pct"`
	TailPct      float64 `json:"tail_pct"`
	// ResidentPerUnit is the most workgroups that a unit gets to hold at
	// once, WavesPerSIMD what they make on the mean of its SIMDs: the
	// occupancy, or less where the grid is too small for it.
	ResidentPerUnit int     `json:"resident_workgroups_per_unit"`
	WavesPerSIMD    float64 `json:"waves_per_simd_of_grid"`
	// UnderFilled: fewer workgroups than units, so some are idle throughout.
	// BelowSlots: all workgroups are resident at once with room to spare.
	UnderFilled bool `json:"under_filled"`
	BelowSlots  bool `json:"below_slots"`
	// IdleLanesPct is lanes without a work-item, because the workgroup is no
	// multiple of the wave.
	IdleLanesPct float64 `json:"idle_lanes_pct"`
	// OneWave workgroups take no barrier slot and hide no latency for each
	// other.
	OneWave bool `json:"one_wave_workgroups"`
	// OccupancyMatters says whether a higher occupancy could change the
	// launch at all, Why the reason in words.
	OccupancyMatters bool   `json:"occupancy_matters"`
	Why              string `json:"reason"`
}

// maxCUs bounds a device's CUs, far above any product.
const maxCUs = 1 << 20

// Launch derives the shape of a launch on a device with the given CUs from a
// hardware-rule Result, the number of workgroups of the grid and the work-items
// of one. It fails on a CU count, grid or workgroup below 1 or absurdly large,
// and on a Result of another rule or workgroup size.
func Launch(cus int, r Result, workgroups int64, workgroupSize int) (LaunchShape, error) {
	switch {
	case cus < 1 || cus > maxCUs:
		return LaunchShape{}, fmt.Errorf("a device with %d CUs", cus)
	case workgroups < 1 || workgroups > 1<<53:
		return LaunchShape{}, fmt.Errorf("a grid of %d workgroups", workgroups)
	case r.Rule != Hardware || r.Wave < 1 || r.CUsPerUnit < 1 || r.SIMDs < 1:
		return LaunchShape{}, fmt.Errorf("a launch needs an occupancy by the hardware rule, not %q", string(r.Rule))
	case workgroupSize < 1 || ceilDiv(workgroupSize, r.Wave) != r.WavesPerGroup:
		return LaunchShape{}, fmt.Errorf("workgroups of %d work-items do not have the %d waves of the occupancy",
			workgroupSize, r.WavesPerGroup)
	}
	l := LaunchShape{
		Workgroups: workgroups, WorkgroupSize: workgroupSize, CUs: cus,
		Unit: r.Unit, Units: max(1, cus/r.CUsPerUnit),
		GroupsPerCU: float64(workgroups) / float64(cus),
		OneWave:     r.WavesPerGroup == 1,
	}
	lanes := r.WavesPerGroup * r.Wave
	l.IdleLanesPct = 100 * float64(lanes-workgroupSize) / float64(lanes)
	l.UnderFilled = workgroups < int64(l.Units)
	if r.Fits {
		l.fill(r)
	}
	l.judge(r)
	return l, nil
}

func (l *LaunchShape) fill(r Result) {
	l.Slots = int64(l.Units) * int64(r.Groups)
	l.Rounds = (l.Workgroups-1)/l.Slots + 1
	last := l.Workgroups - (l.Rounds-1)*l.Slots
	l.LastRoundPct = 100 * float64(last) / float64(l.Slots)
	l.TailPct = 100 * float64(l.Slots-last) / (float64(l.Rounds) * float64(l.Slots))
	l.BelowSlots = l.Workgroups < l.Slots
	perUnit := (l.Workgroups-1)/int64(l.Units) + 1
	l.ResidentPerUnit = int(min(perUnit, int64(r.Groups)))
	l.WavesPerSIMD = float64(l.ResidentPerUnit*r.WavesPerGroup) / float64(r.SIMDs)
}

// judge fills OccupancyMatters and Why.
func (l *LaunchShape) judge(r Result) {
	switch {
	case !r.Fits:
		l.Why = "the workgroup does not fit at all"
	case l.UnderFilled:
		l.Why = fmt.Sprintf("no: %d workgroups leave %d of %d %ss without work; a larger grid helps, occupancy does not",
			l.Workgroups, int64(l.Units)-l.Workgroups, l.Units, l.Unit)
	case l.Workgroups <= l.Slots:
		l.Why = fmt.Sprintf("no: all %d workgroups are resident at once (room for %d), more room changes nothing",
			l.Workgroups, l.Slots)
	case r.AtMaximum():
		l.Why = fmt.Sprintf("no: occupancy is at the maximum of %s/%s (%g waves/SIMD)", plural(r.Groups, "workgroup"), r.Unit, r.WavesPerSIMD)
	default:
		l.OccupancyMatters = true
		l.Why = fmt.Sprintf("it can: %d workgroups wait for %d places, %d at a time on each %s",
			l.Workgroups, l.Slots, r.Groups, r.Unit)
	}
}
