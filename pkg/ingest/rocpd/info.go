package rocpd

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of the small tables.
const (
	maxKernels    = 1 << 20
	maxAgents     = 4096
	maxTracks     = 1 << 20
	maxStrings    = 1 << 20
	maxExtraBytes = 16 << 20 // of the JSON that describes one agent or kernel
)

// text is a value as text, with what is not UTF-8 replaced.
func text(s sql.NullString) string { return strings.ToValidUTF8(s.String, "\uFFFD") }

// number is a whole number, nil for NULL.
func number(v sql.NullInt64) *int64 {
	if !v.Valid {
		return nil
	}
	return &v.Int64
}

func (i *info) metadata(r *trace.Run) {
	var rows []struct {
		Tag   sql.NullString `db:"tag"`
		Value sql.NullString `db:"value"`
	}
	i.query(metadataTable, &rows, "ORDER BY id LIMIT 1000", "tag", "value")
	for _, m := range rows {
		switch text(m.Tag) {
		case "schema_version":
			r.Schema = text(m.Value)
		case "guid":
			r.GUID = cmp.Or(r.GUID, strings.ReplaceAll(text(m.Value), "-", "_"))
		}
	}
}

// process takes the first process; its environment may hold secrets and is
// not read.
func (i *info) process(r *trace.Run) {
	var procs []struct {
		PID     sql.NullInt64  `db:"pid"`
		Command sql.NullString `db:"command"`
	}
	i.query("rocpd_info_process", &procs, "ORDER BY id LIMIT 2", "pid", "command")
	if len(procs) > 0 {
		r.Process.PID, r.Process.Command = number(procs[0].PID), text(procs[0].Command)
	}
	if len(procs) > 1 {
		i.notes = append(i.notes, trace.Note{Level: trace.Warning, File: i.shown, Text: "the table set names more than one process: all of its dispatches are shown under the first"})
	}
	var nodes []struct {
		Host sql.NullString `db:"hostname"`
	}
	i.query("rocpd_info_node", &nodes, "ORDER BY id LIMIT 1", "hostname")
	if len(nodes) > 0 {
		r.Process.Host = text(nodes[0].Host)
	}
}

// agentRow is a row of rocpd_info_agent. UUID is the PCI device id.
type agentRow struct {
	ID      sql.NullInt64  `db:"id"`
	Type    sql.NullString `db:"type"`
	Device  any            `db:"uuid"`
	Name    sql.NullString `db:"name"`
	Product sql.NullString `db:"product_name"`
	Extra   []byte         `db:"extdata"`
}

// agentExtra is what the JSON of an agent says beyond its columns. Source:
// rocprofiler-sdk agent.h, rocprofiler_agent_v0_t.
type agentExtra struct {
	DeviceID        *int64 `json:"device_id"`
	CUs             *int64 `json:"cu_count"`
	SIMDsPerCU      *int64 `json:"simd_per_cu"`
	CUsPerEngine    *int64 `json:"cu_per_engine"`
	XCCs            *int64 `json:"num_xcc"`
	MaxWavesPerSIMD *int64 `json:"max_waves_per_simd"`
	LDSKiB          *int64 `json:"lds_size_in_kb"`
	WaveSize        *int64 `json:"wave_front_size"`
	MaxClockMHz     *int64 `json:"max_engine_clk_fcompute"`
	Arrays          *int64 `json:"array_count"`
	ArraysPerEngine *int64 `json:"simd_arrays_per_engine"`
}

func (i *info) agents(r *trace.Run) {
	var rows []agentRow
	tail := fmt.Sprintf("WHERE extdata IS NULL OR length(extdata) <= %d ORDER BY id LIMIT %d", maxExtraBytes, maxAgents)
	if t := i.set.tables["rocpd_info_agent"]; !t.has("extdata") {
		tail = fmt.Sprintf("ORDER BY id LIMIT %d", maxAgents)
	}
	i.query("rocpd_info_agent", &rows, tail, "id", "type", "uuid", "name", "product_name", "extdata")
	bare := 0
	for _, a := range rows {
		if !a.ID.Valid || !strings.EqualFold(text(a.Type), "GPU") {
			continue
		}
		agent := trace.Agent{
			Origin: trace.Origin{File: i.shown}, NodeID: a.ID.Int64, Gfx: text(a.Name), Product: text(a.Product),
		}
		if !i.agentExtra(&agent, a.Extra) {
			bare++
		}
		if id := wholeValue(a.Device); agent.DeviceID == nil && id > 0 {
			agent.DeviceID = &id
		}
		r.Agents = append(r.Agents, agent)
	}
	slices.SortStableFunc(r.Agents, func(a, b trace.Agent) int { return cmp.Compare(a.NodeID, b.NodeID) })
	if bare > 0 {
		i.notes = append(i.notes, trace.Note{
			Level: trace.Info, File: i.shown,
			Text: fmt.Sprintf("%d GPUs are not described (no readable extdata): their architecture decides", bare),
		})
	}
}

// agentExtra adds what an agent's JSON says; ok is false when it says nothing.
func (i *info) agentExtra(a *trace.Agent, raw []byte) (ok bool) {
	var e agentExtra
	raw, err := inflate(raw, maxExtraBytes)
	if err != nil || json.Unmarshal(raw, &e) != nil {
		return false
	}
	a.DeviceID, a.CUs, a.SIMDsPerCU, a.CUsPerEngine, a.XCCs = e.DeviceID, e.CUs, e.SIMDsPerCU, e.CUsPerEngine, e.XCCs
	a.MaxWavesPerSIMD, a.LDSKiB, a.WaveSize, a.MaxClockMHz = e.MaxWavesPerSIMD, e.LDSKiB, e.WaveSize, e.MaxClockMHz
	if e.Arrays != nil && e.ArraysPerEngine != nil && *e.ArraysPerEngine > 0 {
		n := *e.Arrays / *e.ArraysPerEngine
		a.Engines = &n
	}
	return e.CUs != nil
}

// kernelRow is a row of rocpd_info_kernel_symbol.
type kernelRow struct {
	ID      sql.NullInt64  `db:"id"`
	Symbol  sql.NullString `db:"kernel_name"`
	Display sql.NullString `db:"display_name"`
	LDS     sql.NullInt64  `db:"group_segment_size"`
	SGPRs   sql.NullInt64  `db:"sgpr_count"`
	VGPRs   sql.NullInt64  `db:"arch_vgpr_count"`
	Accum   sql.NullInt64  `db:"accum_vgpr_count"`
}

func (i *info) kernels(r *trace.Run) {
	var rows []kernelRow
	i.query("rocpd_info_kernel_symbol", &rows, fmt.Sprintf("ORDER BY id LIMIT %d", maxKernels),
		"id", "kernel_name", "display_name", "group_segment_size", "sgpr_count", "arch_vgpr_count", "accum_vgpr_count")
	demangled := i.demangled()
	for _, k := range rows {
		if !k.ID.Valid {
			continue
		}
		symbol := trace.BareName(text(k.Symbol))
		name := cmp.Or(trace.BareName(text(k.Display)), demangled[k.ID.Int64], symbol, UnknownKernel(k.ID.Int64))
		r.Kernels = append(r.Kernels, trace.RunKernel{
			ID: k.ID.Int64, Name: name, Symbol: symbol,
			VGPRs: number(k.VGPRs), AccumVGPRs: number(k.Accum), SGPRs: number(k.SGPRs), StaticLDSBytes: number(k.LDS),
		})
	}
}

// UnknownKernel is the name of a kernel that has none.
func UnknownKernel(id int64) string { return fmt.Sprintf("kernel #%d", id) }

// demangled are the names that the JSON of symbols without a display name
// holds.
func (i *info) demangled() map[int64]string {
	t := i.set.tables["rocpd_info_kernel_symbol"]
	if !t.has("extdata") || !t.has("display_name") {
		return nil
	}
	var rows []struct {
		ID    sql.NullInt64 `db:"id"`
		Extra []byte        `db:"extdata"`
	}
	i.query("rocpd_info_kernel_symbol", &rows,
		fmt.Sprintf("WHERE coalesce(display_name, '') = '' AND length(extdata) <= %d ORDER BY id LIMIT %d", maxExtraBytes, maxKernels), "id", "extdata")
	out := map[int64]string{}
	for _, k := range rows {
		var e struct {
			Name string `json:"demangled_kernel_name"`
		}
		if raw, err := inflate(k.Extra, maxExtraBytes); err == nil && json.Unmarshal(raw, &e) == nil {
			out[k.ID.Int64] = trace.BareName(e.Name)
		}
	}
	return out
}

// track is what the tables of 4.x keep apart from the dispatches.
type track struct{ agent, queue, stream int64 }

// tracks are by id; nil where dispatches name their agents themselves.
func (i *info) tracks() map[int64]track {
	if i.set.tables[dispatchTable].has("agent_id") {
		return nil
	}
	var rows []struct {
		ID     sql.NullInt64 `db:"id"`
		Agent  sql.NullInt64 `db:"agent_id"`
		Queue  sql.NullInt64 `db:"queue_id"`
		Stream sql.NullInt64 `db:"stream_id"`
	}
	i.query("rocpd_track", &rows, fmt.Sprintf("LIMIT %d", maxTracks), "id", "agent_id", "queue_id", "stream_id")
	out := map[int64]track{}
	for _, t := range rows {
		out[t.ID.Int64] = track{orAbsent(t.Agent), orAbsent(t.Queue), orAbsent(t.Stream)}
	}
	return out
}

func orAbsent(v sql.NullInt64) int64 {
	if !v.Valid {
		return trace.Absent
	}
	return v.Int64
}

// counters finds out whether dispatches were counted.
func (i *info) counters(r *trace.Run) {
	if i.set.tables["rocpd_pmc_event"] == nil {
		return
	}
	var rows []struct {
		ID sql.NullInt64 `db:"id"`
	}
	i.query("rocpd_pmc_event", &rows, "LIMIT 1", "id")
	r.HasCounters = len(rows) > 0
}

// sharedIDs reports whether dispatches may share an id. The profiler gives a
// row the id of its dispatch; kernel replay adds rows, after which ids lag
// behind. So the last row tells.
func (i *info) sharedIDs() bool {
	t := i.set.tables[dispatchTable]
	if t.has("replay_pass") || !t.has("dispatch_id") || !t.has("id") {
		return false
	}
	var rows []struct {
		ID       sql.NullInt64 `db:"id"`
		Dispatch sql.NullInt64 `db:"dispatch_id"`
	}
	i.query(dispatchTable, &rows, "ORDER BY id DESC LIMIT 1", "id", "dispatch_id")
	return len(rows) > 0 && rows[0].ID != rows[0].Dispatch
}
