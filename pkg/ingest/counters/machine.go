package counters

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxRows bounds the rows of sysinfo.csv and roofline.csv.
const maxRows = 1024

// sysFacts are the numbers of sysinfo.csv by normalized name. Source:
// rocprofiler-compute src/utils/specs.py.
var sysFacts = [...]struct {
	names []string
	to    func(*trace.CounterAgent) **int64
}{
	{[]string{"cupergpu"}, func(a *trace.CounterAgent) **int64 { return &a.CUs }},
	{[]string{"simdpercu"}, func(a *trace.CounterAgent) **int64 { return &a.SIMDsPerCU }},
	{[]string{"sepergpu"}, func(a *trace.CounterAgent) **int64 { return &a.Engines }},
	{[]string{"wavesize"}, func(a *trace.CounterAgent) **int64 { return &a.WaveSize }},
	{[]string{"numxcd"}, func(a *trace.CounterAgent) **int64 { return &a.XCCs }},
	{[]string{"totall2chan"}, func(a *trace.CounterAgent) **int64 { return &a.L2Channels }},
	{[]string{"ldsbankspercu"}, func(a *trace.CounterAgent) **int64 { return &a.LDSBanks }},
	{[]string{"maxsclk"}, func(a *trace.CounterAgent) **int64 { return &a.MaxClockMHz }},
	{[]string{"maxmclk"}, func(a *trace.CounterAgent) **int64 { return &a.MemoryClockMHz }},
	{[]string{"nummemorychannels", "numhbmchannels"}, func(a *trace.CounterAgent) **int64 { return &a.MemoryChannels }},
	{[]string{"gpuchipid", "chipid"}, func(a *trace.CounterAgent) **int64 { return &a.DeviceID }},
}

// ReadSysinfo reads the GPU of a rocprofiler-compute workload. A clock that was
// recorded as 0 or not at all is unknown. It fails when the file is no such
// table.
func ReadSysinfo(r io.Reader, file string) (trace.CounterAgent, error) {
	agent := trace.CounterAgent{}
	rows, err := readSmall(r)
	if err != nil {
		return agent, err
	}
	if len(rows) == 0 {
		return agent, errors.New("the table has no row")
	}
	row := rows[0]
	agent.Gfx = row["gpuarch"]
	if agent.Gfx == "" {
		return agent, errors.New("no column gpu_arch: not a sysinfo.csv")
	}
	agent.Origin = trace.Origin{File: file, Row: 1}
	agent.Product = row["gpumodel"]
	agent.ComputePartition, agent.MemoryPartition = known(row["computepartition"]), known(row["memorypartition"])
	for _, f := range sysFacts {
		for _, name := range f.names {
			if v, err := strconv.ParseFloat(row[name], 64); err == nil && v > 0 && v < 1<<31 {
				n := int64(v)
				*f.to(&agent) = &n
				break
			}
		}
	}
	return agent, nil
}

// known drops the marks that stand for "not there".
func known(s string) string {
	if strings.EqualFold(s, "na") || strings.EqualFold(s, "n/a") || strings.EqualFold(s, "none") {
		return ""
	}
	return s
}

// roofMemories are the memories of roofline.csv by normalized name.
var roofMemories = map[string]string{"hbmbw": "HBM", "mallbw": "MALL", "l2bw": "L2", "l1bw": "L1", "l0bw": "L0", "ldsbw": "LDS"}

// ReadRoofline reads the ceilings that rocprofiler-compute measured; the
// columns that end in Low and High are their spread. It fails when the file is
// no such table.
func ReadRoofline(r io.Reader, file string) ([]trace.MeasuredRoof, error) {
	rows, err := readSmall(r)
	if err != nil {
		return nil, err
	}
	var out []trace.MeasuredRoof
	for i, row := range rows {
		if _, ok := row["hbmbw"]; !ok {
			return nil, errors.New("no column HBMBw: not a roofline.csv")
		}
		device := row["device"]
		if device == "" {
			device = row["devid"]
		}
		id, err := strconv.ParseInt(device, 10, 64)
		if err != nil {
			id = int64(i)
		}
		for _, name := range strings.Split(row[order], ",") {
			v, err := strconv.ParseFloat(row[csvtable.Normalize(name)], 64)
			label, memory := roofMemories[csvtable.Normalize(name)]
			if !memory {
				label = name
			}
			rate := memory || strings.HasSuffix(name, "Flops") || strings.HasSuffix(name, "Ops")
			if err != nil || v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) || !rate {
				continue
			}
			out = append(out, trace.MeasuredRoof{Origin: trace.Origin{File: file, Row: i + 1}, Device: id, Name: label, Value: v})
		}
	}
	return out, nil
}

// order is the key under which readSmall keeps the names of the header.
const order = "\x00order"

// readSmall reads a table of few rows by normalized name. Rows may be longer
// or shorter than the header.
func readSmall(r io.Reader) ([]map[string]string, error) {
	in := csvtable.NewRows(r)
	header, err := cellsOf(in)
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	var rows []map[string]string
	for len(rows) < maxRows {
		cells, err := cellsOf(in)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row := map[string]string{order: strings.Join(header, ",")}
		for i, name := range header {
			if i < len(cells) {
				row[csvtable.Normalize(name)] = strings.TrimSpace(cells[i])
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// cellsOf reads one row.
func cellsOf(in *csvtable.Rows) ([]string, error) {
	row, at, err := in.Next()
	if err != nil {
		return nil, err
	}
	cells, ok := csvtable.Split(row, nil)
	if !ok {
		return nil, fmt.Errorf("byte %d: a quote is out of place", at)
	}
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = string(c)
	}
	return out, nil
}
