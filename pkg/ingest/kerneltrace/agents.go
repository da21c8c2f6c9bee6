package kerneltrace

import (
	"errors"
	"io"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// agentInts are the integer columns of an agent table, by normalized name.
// Source: rocprofiler-sdk, output/generateCSV.cpp.
var agentInts = [...]struct {
	name string
	to   func(*trace.Agent) **int64
}{
	{"deviceid", func(a *trace.Agent) **int64 { return &a.DeviceID }},
	{"cucount", func(a *trace.Agent) **int64 { return &a.CUs }},
	{"simdpercu", func(a *trace.Agent) **int64 { return &a.SIMDsPerCU }},
	{"cuperengine", func(a *trace.Agent) **int64 { return &a.CUsPerEngine }},
	{"numxcc", func(a *trace.Agent) **int64 { return &a.XCCs }},
	{"maxwavespersimd", func(a *trace.Agent) **int64 { return &a.MaxWavesPerSIMD }},
	{"ldssizeinkb", func(a *trace.Agent) **int64 { return &a.LDSKiB }},
	{"wavefrontsize", func(a *trace.Agent) **int64 { return &a.WaveSize }},
	{"maxengineclkfcompute", func(a *trace.Agent) **int64 { return &a.MaxClockMHz }},
}

// ReadAgents reads the GPUs of an agent table, and remarks about it. It fails
// when the input is not such a table.
func ReadAgents(r io.Reader, file string) ([]trace.Agent, []trace.Note, error) {
	t, err := openTable(r)
	if err != nil {
		return nil, nil, err
	}
	if t.column("agenttype") == "" || t.column("nodeid") == "" {
		return nil, nil, errors.New("not an agent table: its header has no Agent_Type and Node_Id")
	}
	var agents []trace.Agent
	for t.next() && len(agents) < maxAgents {
		if !strings.EqualFold(t.cell("agenttype"), "GPU") {
			continue
		}
		node := t.int("nodeid")
		if node == nil {
			t.reject()
			continue
		}
		a := trace.Agent{
			Origin: trace.Origin{File: file, Row: t.n}, NodeID: *node,
			Gfx: strings.Clone(t.cell("name")), Product: strings.Clone(t.cell("productname")),
		}
		for _, c := range agentInts {
			*c.to(&a) = t.int(c.name)
		}
		agents = append(agents, a)
	}
	return agents, t.notes(file), nil
}
