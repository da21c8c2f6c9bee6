package capture

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// String names the GPU as far as it is known: "MI350X, gfx950, 256 CUs, wave
// 64". Several devices are named where nothing tells which of them it is.
func (m *Machine) String() string {
	var parts []string
	if m.Device != nil && m.Device.Name != m.Arch.String() {
		parts = append(parts, m.Device.Name)
	}
	parts = append(parts, m.Arch.String())
	for _, fact := range []string{FactCU, FactWave} {
		if f, ok := m.Number(fact); ok {
			parts = append(parts, f.words())
		}
	}
	return strings.Join(parts, ", ")
}

// Evidence names the GPU, and then from where each fact about it is: the words
// of every command.
func (m *Machine) Evidence() string {
	facts := m.Facts
	if m.Arch.Target == "" {
		facts = append([]Fact{{Fact: FactArch, Value: m.Arch.String(), Source: m.Arch.Source}}, facts...)
	}
	var sources []string
	by := map[string][]string{}
	for _, f := range facts {
		from := m.from(f)
		if by[from] == nil {
			sources = append(sources, from)
		}
		by[from] = append(by[from], f.words())
	}
	for i, from := range sources {
		sources[i] = strings.Join(by[from], ", ") + " " + from
	}
	return m.String() + ": " + strings.Join(sources, "; ")
}

// from words where a fact is from; an agent's with its row.
func (m *Machine) from(f Fact) string {
	if strings.HasPrefix(f.Source, assumed) {
		return f.Source
	}
	if f.Source == fromInstructions && len(m.Arch.Evidence) > 0 {
		return "from the instructions (" + m.Arch.Evidence[0] + ")"
	}
	if why, ok := strings.CutPrefix(f.Source, inferred); ok {
		return "from the counters (" + why + ")"
	}
	file := path.Base(f.Source)
	if len(m.Agents) > 0 && file == path.Base(m.Agents[0].Origin.File) {
		file = place(&m.Agents[0])
		if n := len(m.Agents) - 1; n > 0 {
			file += fmt.Sprintf(" and %d more", n)
		}
	}
	return "from " + file
}

// units are the words behind the numbers of facts; other facts are their
// values.
var units = [...]struct{ fact, format string }{
	{FactXCC, "%s XCCs"},
	{FactEngines, "%s shader engines"},
	{FactCU, "%s CUs"},
	{FactSIMD, "%s SIMDs per CU"},
	{FactL2Channels, "%s L2 channels"},
	{FactLDSBanks, "%s LDS banks"},
	{FactClockMHz, "%s MHz"},
	{FactMemory, "%s GB/s"},
	{FactWave, "wave %s"},
}

func (f *Fact) words() string {
	i := slices.IndexFunc(units[:], func(u struct{ fact, format string }) bool { return u.fact == f.Fact })
	if i < 0 {
		return f.Value
	}
	return fmt.Sprintf(units[i].format, f.Value)
}
