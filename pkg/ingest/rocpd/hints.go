package rocpd

import (
	"slices"
	"strings"
	"unicode"
)

// aliases are names that documents and other tools use, and what they mean in
// a rocpd database. Names are compared without case.
var aliases = []struct{ name, hint string }{
	{"rocpd_info_kernel", "registers and static LDS of a kernel are columns of rocpd_info_kernel_symbol, which rocpd_kernel_dispatch.kernel_id names"},
	{"rocpd_kernel_symbol", "the table is rocpd_info_kernel_symbol"},
	{"kernel_symbols", "the table is rocpd_info_kernel_symbol"},
	{"rocpd_info_agents", "the table is rocpd_info_agent"},
	{"rocpd_agent", "the table is rocpd_info_agent"},
	{"rocpd_pmc", "the tables are rocpd_info_pmc (names) and rocpd_pmc_event (values)"},
	{"kernel_dispatch", "the table is rocpd_kernel_dispatch, the view with names is kernels"},
	{"string", "the table of strings is rocpd_string, its column string"},
	{"kernel_symbol_id", "rocpd_kernel_dispatch names its kernel in kernel_id (rocpd_info_kernel_symbol.id)"},
	{"kernel_name_id", "rocpd_kernel_dispatch names its kernel in kernel_id; names are in rocpd_info_kernel_symbol"},
	{"kernelname", "names are in kernel_name (mangled) and display_name of rocpd_info_kernel_symbol, and in name of the view kernels"},
	{"kernel_name", "the view kernels has name; rocpd_info_kernel_symbol has kernel_name (mangled) and display_name"},
	{"duration_ns", "the view kernels has duration (ns); rocpd_kernel_dispatch has start and end"},
	{"duration", "the view kernels has duration (ns); rocpd_kernel_dispatch has start and end"},
	{"start_ns", "the column is start (ns)"},
	{"end_ns", "the column is end (ns)"},
	{"lds_size", "LDS is group_segment_size: of the dispatch in rocpd_kernel_dispatch, static in rocpd_info_kernel_symbol; the view kernels has lds_size"},
	{"lds_block_size", "LDS is group_segment_size: of the dispatch in rocpd_kernel_dispatch, static in rocpd_info_kernel_symbol"},
	{"vgpr_count", "registers are arch_vgpr_count and accum_vgpr_count of rocpd_info_kernel_symbol; the view kernels has vgpr_count"},
	{"dispatch_id", "rocpd_pmc_event names its dispatch by event_id (rocpd_kernel_dispatch.event_id); the view counters_collection has dispatch_id"},
	{"counter_name", "counter names are in rocpd_info_pmc.name; the view counters_collection has counter_name and value"},
	{"rocpd_kernelapi", "that is a table of rpd, an older format: use the view kernels"},
	{"rocpd_op", "that is a table of rpd, an older format: use the view kernels"},
	{"rocpd_api", "that is a table of rpd, an older format: API calls are in rocpd_region"},
	{"kernel_summary", "that view is no longer written: use 'rocanalyze kernels', or GROUP BY name on the view kernels"},
	{"top", "use 'rocanalyze kernels', or GROUP BY name on the view kernels"},
	{"top_kernels", "use 'rocanalyze kernels', or GROUP BY name on the view kernels"},
}

// hints name what exists in place of what a query names. missing is SQLite's
// message, which holds the first unknown name only: known aliases are looked
// for in the whole query.
func (s *schema) hints(query, missing string) []string {
	kind, name, _ := strings.Cut(missing, ": ")
	if _, column, ok := strings.Cut(name, "."); ok {
		name = column
	}
	names := append([]string{name}, identifiers(query)...)
	known := s.names()
	var out []string
	for i, n := range names {
		if i > 0 && known[strings.ToLower(n)] {
			continue
		}
		for _, a := range aliases {
			if strings.EqualFold(a.name, n) && !slices.Contains(out, a.hint) {
				out = append(out, a.hint)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	if near := s.near(name); near != "" {
		out = append(out, "did you mean "+near+"?")
	}
	if strings.HasSuffix(kind, "no such table") {
		return append(out, "there are: "+strings.Join(s.tableNames(), ", "))
	}
	return append(out, "PRAGMA table_info(NAME) lists the columns of a table")
}

// identifiers are the words of a query outside of its strings.
func identifiers(query string) []string {
	var out []string
	for i, part := range strings.Split(query, "'") {
		if i%2 == 1 {
			continue
		}
		out = append(out, strings.FieldsFunc(part, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	return out
}

// names are all un-suffixed tables and their columns, in lower case.
func (s *schema) names() map[string]bool {
	out := map[string]bool{}
	for _, set := range s.sets {
		for base, t := range set.tables {
			out[base] = true
			for _, c := range t.columns {
				out[strings.ToLower(c)] = true
			}
		}
	}
	return out
}

// tableNames are the names that a query can use, sorted.
func (s *schema) tableNames() []string {
	var out []string
	for _, v := range s.views() {
		out = append(out, v.name)
	}
	slices.Sort(out)
	return out
}

// near is the name that is written most like another: the same letters, or a
// change of two.
func (s *schema) near(name string) string {
	all := s.names()
	const limit = 3
	best, distance := "", limit
	for _, v := range s.dataViews() {
		all[v.name] = true
	}
	bare := strings.ReplaceAll(strings.ToLower(name), "_", "")
	for candidate := range all {
		d := edits(bare, strings.ReplaceAll(candidate, "_", ""), limit)
		if d < distance || d == distance && d < limit && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
}

// edits is Levenshtein's distance, up to limit.
func edits(a, b string, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
