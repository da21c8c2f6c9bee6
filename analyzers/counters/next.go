package counters

import (
	"cmp"
	"slices"
	"strings"
)

// blockLimit is how many counters of a block fit into one pass, by the prefix
// of their names. Source: rocprofiler-sdk counter_defs.yaml and
// rocprofiler-compute perfmon limits; SQC shares the counters of SQ.
func blockLimit(block string) int {
	switch block {
	case "SQ":
		return 8
	case "TCP", "TCC", "GDS", "GL1C", "GL2C":
		return 4
	case "SPI":
		return 6
	case "TA", "TD", "CPC", "CPF", "GRBM":
		return 2
	}
	return 1
}

// block is the hardware block of a counter.
func block(counter string) string {
	b, _, _ := strings.Cut(counter, "_")
	if b == "SQC" {
		return "SQ"
	}
	return b
}

// Fits reports whether counters can be taken in one pass.
func Fits(counters []string) bool {
	n := map[string]int{}
	for _, c := range counters {
		if n[block(c)]++; n[block(c)] > blockLimit(block(c)) {
			return false
		}
	}
	return true
}

// measurable reports whether a counter can be asked for: not a fact, not the
// profiler's own formula, not a level that needs a table of its own.
func measurable(counter string) bool {
	return strings.Contains(counter, "_") && counter == strings.ToUpper(strings.TrimSuffix(counter, "_sum"))+sumSuffix(counter) &&
		!strings.HasSuffix(counter, "_ACCUM") && counter != duration && counter != "FETCH_SIZE" && counter != "WRITE_SIZE" && counter != "WRITE_REQ_32B"
}

func sumSuffix(counter string) string {
	if strings.HasSuffix(counter, "_sum") {
		return "_sum"
	}
	return ""
}

// summed are the blocks with one counter for each instance, whose sum the
// profiler names apart.
func summed() []string { return []string{"TCC", "TCP", "TA", "TD", "GL1C", "GL2C"} }

// spell returns how a counter is asked for on a machine.
func (b *builder) spell(m *Machine) func(string) string {
	return func(name string) string {
		if old, ok := b.col.spelled[name]; ok {
			return old
		}
		return Spell(name, m.Archs)
	}
}

// Spell returns how the profiler takes a counter of the catalogue on an
// architecture.
func Spell(name string, archs []string) string {
	one := len(archs) > 0
	for _, a := range archs {
		one = one && slices.Contains(oneDie(), a)
	}
	if rest, ok := strings.CutPrefix(name, "TCC_EA0_"); ok && one {
		name = "TCC_EA_" + rest
	}
	if slices.Contains(summed(), block(name)) {
		name += "_sum"
	}
	return name
}

// Plan finds the pass that unlocks the most of some absent metrics: it begins
// with those that need least and adds others while their counters fit. Known
// values that are only ranges count as absent. Only metrics in wanted count, in
// that order; all do when it is nil. It is nil when no pass unlocks any.
func Plan(absent []Absence, known map[string]Value, wanted []string) *NextPass {
	var candidates []Absence
	ids := wanted
	if ids == nil {
		ids = metricIDs()
	}
	for _, id := range ids {
		if v := known[id]; v.ForExact != nil {
			absent = append(absent[:len(absent):len(absent)], Absence{ID: id, Counters: v.ForExact})
		}
	}
	for _, a := range absent {
		if len(a.Counters) > 0 && (wanted == nil || slices.Contains(wanted, a.ID)) &&
			!slices.ContainsFunc(a.Counters, func(c string) bool { return !measurable(c) }) {
			candidates = append(candidates, a)
		}
	}
	// What is wanted comes in that order, else what needs least.
	slices.SortStableFunc(candidates, func(a, b Absence) int {
		return cmp.Compare(slices.Index(wanted, a.ID), slices.Index(wanted, b.ID))
	})
	pass := &NextPass{}
	for len(candidates) > 0 {
		best, bestNew := -1, []string(nil)
		for i, a := range candidates {
			more := without(a.Counters, pass.Counters)
			if Fits(slices.Concat(pass.Counters, more)) && (best < 0 || wanted == nil && len(more) < len(bestNew)) {
				best, bestNew = i, more
			}
		}
		if best < 0 {
			break
		}
		pass.Counters = append(pass.Counters, bestNew...)
		pass.Unlocks = append(pass.Unlocks, candidates[best].ID)
		candidates = slices.Delete(candidates, best, best+1)
	}
	if len(pass.Unlocks) == 0 {
		return nil
	}
	slices.SortStableFunc(pass.Counters, func(a, b string) int { return cmp.Compare(block(a), block(b)) })
	pass.Command = Command(pass.Counters)
	return pass
}

// metricIDs are the ids of all metrics, in the order of the catalogue.
func metricIDs() []string {
	var out []string
	for _, m := range Catalogue() {
		out = append(out, m.ID)
	}
	return out
}

// Command takes counters in one pass.
func Command(counters []string) string {
	return "rocprofv3 --pmc " + strings.Join(counters, " ") + " -d out -f csv -- <application>"
}

func without(list, have []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(have, s) {
			out = append(out, s)
		}
	}
	return out
}
