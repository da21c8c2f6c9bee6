package kerneltrace

import (
	"errors"
	"io"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
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
	t, err := csvtable.Open(r)
	if err != nil {
		return nil, nil, err
	}
	if t.Column("agenttype") == "" || t.Column("nodeid") == "" {
		return nil, nil, errors.New("not an agent table: its header has no Agent_Type and Node_Id")
	}
	var agents []trace.Agent
	for t.Next() && len(agents) < maxAgents {
		if !strings.EqualFold(t.Cell("agenttype"), "GPU") {
			continue
		}
		node := t.Int("nodeid")
		if node == nil {
			t.Reject()
			continue
		}
		a := trace.Agent{
			Origin: trace.Origin{File: file, Row: t.Row()}, NodeID: *node,
			Gfx: strings.Clone(t.Cell("name")), Product: strings.Clone(t.Cell("productname")),
		}
		for _, c := range agentInts {
			*c.to(&a) = t.Int(c.name)
		}
		a.Engines = engines(t.Int("arraycount"), t.Int("simdarraysperengine"))
		if t.Wrong() {
			t.Reject()
			continue
		}
		agents = append(agents, a)
	}
	return agents, t.Notes(file), nil
}

// engines is the number of shader engines; nil when a column is missing.
func engines(arrays, perEngine *int64) *int64 {
	if arrays == nil || perEngine == nil || *perEngine <= 0 {
		return nil
	}
	n := *arrays / *perEngine
	return &n
}
