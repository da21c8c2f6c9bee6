package rocpd

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// view is a temporary view.
type view struct{ name, sql string }

// allTables adds every other table of a set that begins with "rocpd_".
func (s *session) allTables(ctx context.Context, sch *schema) error {
	for _, set := range sch.sets {
		for _, name := range slices.Sorted(maps.Keys(sch.objects)) {
			base, ok := strings.CutSuffix(name, set.suffix)
			if !ok || !strings.HasPrefix(base, "rocpd_") || set.tables[base] != nil || !sch.has(name) {
				continue
			}
			t, err := s.table(ctx, sch.objects[name])
			if err != nil {
				return err
			}
			set.tables[base] = t
		}
	}
	return nil
}

// views are the un-suffixed names, with the rows of all sets, and views of
// kernels, copies and counters that keep every row.
func (s *schema) views() []view {
	var out []view
	bases := map[string]bool{}
	for _, set := range s.sets {
		for base := range set.tables {
			bases[base] = true
		}
	}
	for _, base := range slices.Sorted(maps.Keys(bases)) {
		if sql := s.union(base); sql != "" {
			out = append(out, view{base, sql})
		}
	}
	return append(out, s.dataViews()...)
}

// union selects the rows of a table of all sets, each column by its name. Sets
// that lack a column give NULL.
func (s *schema) union(base string) string {
	var columns []string
	for _, set := range s.sets {
		if t := set.tables[base]; t != nil {
			for _, c := range set.columnsOf(t) {
				if !slices.Contains(columns, c) {
					columns = append(columns, c)
				}
			}
		}
	}
	var parts []string
	for _, set := range s.sets {
		if t := set.tables[base]; t != nil {
			parts = append(parts, set.selectOf(t, columns))
		}
	}
	return strings.Join(parts, " UNION ALL ")
}

// elsewhere are columns that the tables of 4.x keep in others: by their name,
// the column that names the row there, the table and its column.
var elsewhere = []struct{ name, key, table, column string }{
	{"nid", "track_id", "rocpd_track", "nid"},
	{"pid", "track_id", "rocpd_track", "pid"},
	{"tid", "track_id", "rocpd_track", "tid"},
	{"agent_id", "track_id", "rocpd_track", "agent_id"},
	{"queue_id", "track_id", "rocpd_track", "queue_id"},
	{"stream_id", "track_id", "rocpd_track", "stream_id"},
	{"start", "start_id", "rocpd_timestamp", "value"},
	{"end", "end_id", "rocpd_timestamp", "value"},
	{"timestamp", "timestamp_id", "rocpd_timestamp", "value"},
}

// columnsOf are the columns of a table, and those that are kept elsewhere.
func (t *tableSet) columnsOf(tab *table) []string {
	out := slices.Clone(tab.columns)
	for _, e := range elsewhere {
		if tab.has(e.key) && !tab.has(e.name) && t.tables[e.table].has(e.column) {
			out = append(out, e.name)
		}
	}
	return out
}

// selectOf selects columns of one table. It names main, since a table without
// a suffix has the name of its view.
func (t *tableSet) selectOf(tab *table, columns []string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = "NULL"
		if tab.has(c) {
			out[i] = "d." + quote(c)
		}
		for _, e := range elsewhere {
			if other := t.tables[e.table]; e.name == c && !tab.has(c) && tab.has(e.key) && other.has(e.column) {
				out[i] = "(SELECT o." + quote(e.column) + " FROM main." + quote(other.name) + " o WHERE o.id = d." + quote(e.key) + ")"
			}
		}
		out[i] += " AS " + quote(c)
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM main." + quote(tab.name) + " d"
}

// Views over the un-suffixed ones, with the columns of the profiler's own. They
// join by guid as well, as ids repeat between processes, and keep rows that
// join nothing. Source: rocprofiler-sdk rocpd data_views.sql.
const (
	kernelsView = `SELECT d.id, d.guid, d.nid, d.pid, d.tid, d.agent_id, a.absolute_index AS agent_abs_index, a.name AS agent_name,
 d.kernel_id, d.dispatch_id, d.event_id, d.queue_id, d.stream_id, coalesce(nullif(k.display_name, ''), k.kernel_name) AS name,
 d.start, d."end", d."end" - d.start AS duration,
 d.grid_size_x AS grid_x, d.grid_size_y AS grid_y, d.grid_size_z AS grid_z,
 d.workgroup_size_x AS workgroup_x, d.workgroup_size_y AS workgroup_y, d.workgroup_size_z AS workgroup_z,
 d.group_segment_size AS lds_size, d.private_segment_size AS scratch_size,
 k.group_segment_size AS static_lds_size, k.private_segment_size AS static_scratch_size,
 k.arch_vgpr_count AS vgpr_count, k.accum_vgpr_count, k.sgpr_count
 FROM rocpd_kernel_dispatch d
 LEFT JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
 LEFT JOIN rocpd_info_agent a ON a.id = d.agent_id AND a.guid = d.guid`
	copiesView = `SELECT c.id, c.guid, c.nid, c.pid, c.tid, s.string AS name, c.start, c."end", c."end" - c.start AS duration, c.size,
 c.src_agent_id, c.dst_agent_id, c.stream_id, c.event_id
 FROM rocpd_memory_copy c LEFT JOIN rocpd_string s ON s.id = c.name_id AND s.guid = c.guid`
	countersView = `SELECT d.id, d.guid, d.dispatch_id, d.agent_id, d.kernel_id, d.event_id, d.pid,
 coalesce(nullif(k.display_name, ''), k.kernel_name) AS kernel_name, p.name AS counter_name, p.block, p.expression, p.is_derived,
 sum(e.value) AS value, count(*) AS instances, d.start, d."end", d."end" - d.start AS duration
 FROM rocpd_pmc_event e
 JOIN rocpd_kernel_dispatch d ON d.event_id = e.event_id AND d.guid = e.guid
 JOIN rocpd_info_pmc p ON p.id = e.pmc_id AND p.guid = e.guid
 LEFT JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
 WHERE {{spm}} GROUP BY d.guid, d.id, p.name`
)

// dataViews are those whose tables there are.
func (s *schema) dataViews() []view {
	have := func(bases ...string) bool {
		return !slices.ContainsFunc(bases, func(b string) bool { return s.union(b) == "" })
	}
	var out []view
	if have(dispatchTable, "rocpd_info_kernel_symbol", "rocpd_info_agent") {
		out = append(out, view{"kernels", kernelsView})
	}
	if have("rocpd_memory_copy", "rocpd_string") {
		out = append(out, view{"memory_copies", copiesView})
	}
	if have(dispatchTable, "rocpd_info_kernel_symbol", "rocpd_pmc_event", "rocpd_info_pmc") {
		// Samples of a streaming monitor are no counters of a dispatch.
		spm := "TRUE"
		for _, set := range s.sets {
			if set.tables["rocpd_pmc_event"].has("sample_id") {
				spm = "e.sample_id IS NULL"
			}
		}
		out = append(out, view{"counters_collection", strings.ReplaceAll(countersView, "{{spm}}", spm)})
	}
	return out
}
