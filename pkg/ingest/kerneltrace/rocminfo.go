package kerneltrace

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxRocminfo bounds what is read of a description of a machine, in bytes.
const maxRocminfo = 4 << 20

// rocminfoInts are the whole numbers of an agent. Source: rocminfo.cc.
var rocminfoInts = map[string]func(*trace.Agent) **int64{
	"Chip ID":               func(a *trace.Agent) **int64 { return &a.DeviceID },
	"Compute Unit":          func(a *trace.Agent) **int64 { return &a.CUs },
	"SIMDs per CU":          func(a *trace.Agent) **int64 { return &a.SIMDsPerCU },
	"Shader Engines":        func(a *trace.Agent) **int64 { return &a.Engines },
	"Wavefront Size":        func(a *trace.Agent) **int64 { return &a.WaveSize },
	"Max Clock Freq. (MHz)": func(a *trace.Agent) **int64 { return &a.MaxClockMHz },
}

// ReadRocminfo reads the GPUs of what rocminfo prints, which rocprof leaves as
// .sysinfo.txt beside its tables. It fails when there is none in it.
func ReadRocminfo(r io.Reader, file string) ([]trace.Agent, error) {
	var all []trace.Agent
	var a *trace.Agent // nil before the first agent, and in one that is no GPU
	seen := map[string]bool{}
	lines := bufio.NewScanner(io.LimitReader(r, maxRocminfo))
	for n := 1; lines.Scan() && len(all) < maxAgents; n++ {
		line := strings.TrimSpace(lines.Text())
		if number, ok := strings.CutPrefix(line, "Agent "); ok {
			if _, err := strconv.Atoi(number); err == nil {
				all, seen = append(all, trace.Agent{Origin: trace.Origin{File: file, Row: n}, NodeID: trace.Absent}), map[string]bool{}
				a = &all[len(all)-1]
			}
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok || a == nil || seen[key] {
			continue
		}
		seen[key] = true // the pools and ISAs of an agent have names too
		switch to := rocminfoInts[key]; {
		case key == "Name":
			a.Gfx = value
		case key == "Marketing Name":
			a.Product = value
		case key == "Device Type" && value != "GPU":
			all, a = all[:len(all)-1], nil
		case key == "Node":
			if v := leading(value); v != nil {
				a.NodeID = *v
			}
		case to != nil:
			if v := leading(value); v != nil && *v > 0 { // 0 stands for "not known"
				*to(a) = v
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	var out []trace.Agent
	for _, a := range all {
		if a.NodeID != trace.Absent && strings.HasPrefix(a.Gfx, "gfx") {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no GPU that rocminfo lists")
	}
	return out, nil
}

// leading reads the number that a value begins with, as in "64(0x40)".
func leading(value string) *int64 {
	v, err := strconv.ParseInt(value[:len(value)-len(strings.TrimLeft(value, "0123456789"))], 10, 64)
	if err != nil {
		return nil
	}
	return &v
}

// Describe takes the GPUs of a description that names them otherwise than the
// table does (rocprof counts GPUs from 0 or writes node numbers): by their
// nodes, and where all of them are alike, as all that the table names.
func (t *Table) Describe(agents []trace.Agent) {
	if len(agents) == 0 {
		return
	}
	byNode := map[int64]trace.Agent{}
	alike := true
	for _, a := range agents {
		byNode[a.NodeID] = a
		alike = alike && a.Gfx == agents[0].Gfx && a.Product == agents[0].Product
	}
	for _, id := range t.AgentIDs() {
		node := nodeOf(nil, id)
		a, known := byNode[node]
		if !known && alike {
			a = agents[0]
		}
		if node != trace.Absent && (known || alike) {
			a.NodeID = node
			t.Agents = append(t.Agents, a)
		}
	}
}
