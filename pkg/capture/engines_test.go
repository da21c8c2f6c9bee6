package capture

import "testing"

// The compute units of some engines need the numbers of both, and engines.
func TestEngineCUs(t *testing.T) {
	m := &Machine{Facts: []Fact{{Fact: FactCU, Number: 304}, {Fact: FactEngines, Number: 32}}}
	if got := m.EngineCUs(4); got == nil || *got != 38 {
		t.Errorf("4 of 32 engines of 304 CUs: %v", got)
	}
	for name, got := range map[string]*float64{
		"no engine traced":  m.EngineCUs(0),
		"CUs not known":     (&Machine{Facts: m.Facts[1:]}).EngineCUs(4),
		"engines not known": (&Machine{Facts: m.Facts[:1]}).EngineCUs(4),
	} {
		if got != nil {
			t.Errorf("%s: %g", name, *got)
		}
	}
}
