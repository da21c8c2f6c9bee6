package gpu

import (
	"fmt"
	"strings"
)

// Limit is what one resource alone allows, with the steps of its arithmetic.
type Limit struct {
	Resource Resource `json:"resource"`
	// Unlimited means that this resource cannot limit here (no LDS used,
	// one-wave workgroups, gfx10's scalar registers); Groups is then void.
	Unlimited bool `json:"unlimited,omitempty"`
	// Used is registers per wave, LDS bytes per workgroup, or waves per
	// workgroup. Allocated is Used rounded up to Granule, plus Reserve.
	Used      int `json:"used"`
	Granule   int `json:"granule,omitempty"`
	Reserve   int `json:"reserve,omitempty"`
	Allocated int `json:"allocated,omitempty"`
	// Pool is registers per SIMD, LDS bytes per unit, or workgroup slots.
	Pool int `json:"pool,omitempty"`
	// WavesPerSIMD is set for registers and wave slots.
	WavesPerSIMD int `json:"waves_per_simd,omitempty"`
	// Groups is workgroups per unit, 0 when one does not fit; DoesNotFit
	// then says why. The LLVM rule has waves only and leaves it 0.
	Groups     int    `json:"workgroups_per_unit"`
	DoesNotFit string `json:"does_not_fit,omitempty"`
	// Next is the way to one more workgroup. Only binding limits have one,
	// and only where there is a way.
	Next *Step `json:"next_step,omitempty"`
	// Unit, SIMDs and WavesPerGroup repeat the Result's, for String; Unit is
	// empty under the LLVM rule.
	Unit          string `json:"-"`
	SIMDs         int    `json:"-"`
	WavesPerGroup int    `json:"-"`
}

// String shows the arithmetic in one line, for example "134 VGPRs -> 136
// allocated (granule 8); 512/136 = 3 waves/SIMD -> 3 workgroups/CU".
func (l Limit) String() string {
	if l.Unlimited {
		return l.unlimited()
	}
	if l.Unit == "" {
		return fmt.Sprintf("%s %d: %d waves/SIMD by LLVM's rule", l.Resource, l.Used, l.WavesPerSIMD)
	}
	var b strings.Builder
	switch l.Resource {
	case WaveSlots:
		fmt.Fprintf(&b, "%d wave slots/SIMD x %d SIMDs / %d waves per workgroup", l.WavesPerSIMD, l.SIMDs, l.Used)
	case WorkgroupSlots:
		fmt.Fprintf(&b, "%d workgroup slots (barriers)", l.Pool)
	case LDS:
		fmt.Fprintf(&b, "%d B LDS -> %d B allocated (granule %d); %d/%d", l.Used, l.Allocated, l.Granule, l.Pool, l.Allocated)
	case VGPR:
		fmt.Fprintf(&b, "%d VGPRs -> %d allocated (granule %d); %s", l.Used, l.Allocated, l.Granule, l.division())
	case SGPR:
		fmt.Fprintf(&b, "%d SGPRs -> %d + %d trap handler = %d (granule %d); %s",
			l.Used, l.Allocated-l.Reserve, l.Reserve, l.Allocated, l.Granule, l.division())
	}
	if l.DoesNotFit != "" {
		return b.String() + " -> does not fit: " + l.DoesNotFit
	}
	return fmt.Sprintf("%s -> %s/%s", b.String(), plural(l.Groups, "workgroup"), l.Unit)
}

// division shows a register file's division; the multiplication into
// workgroups is shown where it is not one wave per SIMD.
func (l Limit) division() string {
	s := fmt.Sprintf("%d/%d = %d", l.Pool, l.Allocated, l.Pool/l.Allocated)
	if l.DoesNotFit == "" && l.Pool/l.Allocated > l.WavesPerSIMD {
		s += fmt.Sprintf(", at most %d", l.WavesPerSIMD)
	}
	s += " waves/SIMD"
	if l.DoesNotFit == "" && l.SIMDs != l.WavesPerGroup {
		s += fmt.Sprintf(" x %d SIMDs / %d waves per workgroup", l.SIMDs, l.WavesPerGroup)
	}
	return s
}

func (l Limit) unlimited() string {
	switch l.Resource {
	case LDS:
		return "no LDS used"
	case WorkgroupSlots:
		return "one-wave workgroups take no barrier slot"
	case SGPR:
		return "SGPRs never limit on this architecture"
	}
	return string(l.Resource) + " does not limit"
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Step is the smallest change of one resource that lets it, alone, allow more
// workgroups per unit.
type Step struct {
	// Target is the largest amount that is small enough, Free what must go
	// (registers of the total allocation, or bytes).
	Target int `json:"target"`
	Free   int `json:"free"`
	// OwnGroups is what this resource alone would then allow; Groups and
	// WavesPerSIMD what the kernel would really get.
	OwnGroups    int     `json:"own_workgroups_per_unit"`
	Groups       int     `json:"workgroups_per_unit"`
	WavesPerSIMD float64 `json:"waves_per_simd"`
	// Gains is false when another limit keeps the occupancy where it is.
	Gains bool `json:"gains"`
	// ThenLimitedBy is what limits after the change.
	ThenLimitedBy []Resource `json:"then_limited_by"`
	// Text says the step in words.
	Text string `json:"text"`
}

// next finds the step of a binding limit, nil where there is none: slots
// cannot be bought, and a file may already hold one workgroup per wave slot.
func (s shape) next(l Limit) *Step {
	target, ok := s.target(l.Resource, l.Groups+1)
	if !ok || target >= l.Used {
		return nil
	}
	now := s.hardware()
	then := s.with(l.Resource, target).hardware()
	own, _ := then.Limit(l.Resource)
	step := &Step{
		Target: target, Free: l.Used - target, OwnGroups: own.Groups,
		Groups: then.Groups, WavesPerSIMD: then.WavesPerSIMD,
		Gains: then.Groups > now.Groups, ThenLimitedBy: then.LimitedBy,
	}
	step.Text = step.words(l, then.Unit)
	return step
}

func (p Step) words(l Limit, unit string) string {
	what := strings.ToUpper(string(l.Resource)) + "s"
	if l.Resource == LDS {
		what = "B of LDS"
	}
	names := make([]string, 0, len(p.ThenLimitedBy))
	for _, r := range p.ThenLimitedBy {
		names = append(names, string(r))
	}
	then := strings.Join(names, ", ")
	if !p.Gains {
		return fmt.Sprintf("freeing %d %s (to %d) gains nothing alone: still limited by %s", p.Free, what, p.Target, then)
	}
	return fmt.Sprintf("free %d %s to reach %d: %s/%s, %g waves/SIMD, then limited by %s",
		p.Free, what, p.Target, plural(p.Groups, "workgroup"), unit, p.WavesPerSIMD, then)
}

// target returns the largest amount of a resource that allows the given
// workgroups; ok is false when no amount does.
func (s shape) target(res Resource, groups int) (amount int, ok bool) {
	waves := ceilDiv(groups*s.waves, s.share.SIMDs)
	switch {
	case res == LDS:
		amount = min(alignDown(s.share.LDSPool/groups, s.arch.LDSGranule), s.arch.LDSPerGroup)
	case waves > s.arch.MaxWaves:
		return 0, false
	case res == VGPR:
		amount = s.maxVGPR(waves)
	case res == SGPR && s.arch.SGPR.PerSIMD > 0:
		f := s.arch.SGPR
		amount = alignDown(f.PerSIMD/waves-f.TrapReserve, f.Granule)
	}
	return amount, amount > 0
}

// maxVGPR is the most registers with which w waves fit on a SIMD (LLVM
// getMaxNumVGPRs).
func (s shape) maxVGPR(w int) int {
	return min(alignDown(s.file.PerSIMD/w, s.granule), s.addressable)
}

// with returns the shape with another amount of one resource.
func (s shape) with(res Resource, amount int) shape {
	switch res {
	case VGPR:
		s.vgprs, s.tooMany = amount, ""
	case SGPR:
		s.sgprs = amount
	case LDS:
		s.lds = amount
	case WorkgroupSize:
		s.waves = ceilDiv(amount, s.wave)
	}
	return s
}
