package gpu

import (
	"reflect"
	"testing"
)

// TestLDSPhases checks that the phases of every row hold each lane once.
func TestLDSPhases(t *testing.T) {
	for _, r := range ldsTable() {
		seen := map[int]int{}
		for _, lanes := range r.phases() {
			for _, lane := range lanes {
				seen[lane]++
			}
		}
		for lane := range r.wave {
			if seen[lane] != 1 {
				t.Errorf("%v %d bits: lane %d is in %d phases", r.archs, r.bits, lane, seen[lane])
			}
		}
		if len(seen) != r.wave {
			t.Errorf("%v %d bits: %d lanes", r.archs, r.bits, len(seen))
		}
	}
}

// TestLDSConflicts holds access patterns worked out by hand.
func TestLDSConflicts(t *testing.T) {
	tests := []struct {
		name    string
		arch    string
		read    bool
		bits    int
		wave    int
		stride  int64 // bytes between lanes
		banks   int
		phases  int
		extra   int
		comment string
	}{
		{"dense b32", "gfx942", true, 32, 64, 4, 32, 2, 0, "32 lanes on 32 banks"},
		{"broadcast", "gfx942", true, 32, 64, 0, 32, 2, 0, "one dword"},
		{"stride 2", "gfx942", true, 32, 64, 8, 32, 2, 2, "two lanes per bank in both phases"},
		{"stride 32", "gfx942", true, 32, 64, 128, 32, 2, 62, "32 lanes in one bank, twice 31"},
		{"dense b64", "gfx942", true, 64, 64, 8, 32, 4, 0, "16 lanes x 2 dwords"},
		{"dense b128", "gfx942", true, 128, 64, 16, 32, 8, 0, "lanes 0-3 on banks 0-15, 20-23 on 16-31"},
		{"rows of 64 B", "gfx942", true, 128, 64, 64, 32, 8, 24, "8 lanes x 4 dwords on 8 banks: 4 deep, 8 x 3"},
		{"dense b128 write", "gfx942", false, 128, 64, 16, 32, 8, 0, "8 lanes x 4 dwords"},
		{"dense b64", "gfx950", true, 64, 64, 8, 64, 2, 0, "32 lanes x 2 dwords on 64 banks"},
		{"dense b128", "gfx950", true, 128, 64, 16, 64, 4, 0, "16 lanes x 4 dwords on 64 banks"},
		{"dense b96 keeps 32 banks", "gfx950", true, 96, 64, 12, 32, 8, 8, "lanes 0-3 on banks 0-11, 20-23 on 28-31 and 0-7"},
		{"writes keep 32 banks", "gfx950", false, 64, 64, 8, 32, 4, 0, "16 lanes x 2 dwords"},
		{"dense b128", "gfx1201", true, 128, 32, 16, 32, 4, 0, "8 lanes x 4 dwords"},
	}
	for _, tt := range tests {
		x, ok := mustArch(t, tt.arch).LDSAccess(tt.read, tt.bits, tt.wave)
		if !ok || x.Banks != tt.banks || len(x.Phases) != tt.phases {
			t.Errorf("%s %s: %d banks, %d phases, want %d, %d", tt.arch, tt.name, x.Banks, len(x.Phases), tt.banks, tt.phases)
			continue
		}
		addr := make([]int64, tt.wave)
		for i := range addr {
			addr[i] = int64(i) * tt.stride
		}
		if got := x.ExtraCycles(addr); got != tt.extra {
			t.Errorf("%s %s: %d extra cycles, want %d (%s)", tt.arch, tt.name, got, tt.extra, tt.comment)
		}
	}
	x, _ := mustArch(t, "gfx950").LDSAccess(true, 128, 64)
	if want := []int{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27}; !reflect.DeepEqual(x.Phases[0], want) {
		t.Errorf("first phase %v, want %v", x.Phases[0], want)
	}
	if got := x.ExtraCycles([]int64{0, 256, -1, 512}); got != 2 {
		t.Errorf("three lanes on four banks: %d extra cycles, want 2", got)
	}
	if _, ok := mustArch(t, "gfx900").LDSAccess(true, 128, 64); ok {
		t.Error("gfx900 has an access model without a source")
	}
}
