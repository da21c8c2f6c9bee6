package analysis

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Options are what a user may set for a run.
type Options struct {
	Kernel *regexp.Regexp
	// Device is a device or architecture that the user named; "" for none.
	Device  string
	Workers int
	// Params maps ANALYZER.NAME or RULE.NAME to a value.
	Params map[string]float64
}

// Outcome is what a run found.
type Outcome struct {
	// Findings are sorted by finding.Sort.
	Findings []finding.Finding
	// Skipped lists the analyzers that lacked evidence, in run order.
	Skipped []Skip

	results map[*Analyzer]any
}

// Skip says why an analyzer did not run and how to capture what it lacks.
type Skip struct {
	Analyzer string
	Lacks    Evidence
	Capture  string
}

func (o *Outcome) result(a *Analyzer) any { return o.results[a] }

// Run runs the analyzers and all that they require, each once and after its
// requirements. It refuses cycles and parameters that nobody declares.
func Run(ctx context.Context, t *trace.Trace, opts Options, analyzers ...Required) (*Outcome, error) {
	order, err := sorted(analyzers)
	if err != nil {
		return nil, err
	}
	known := paramsOf(order)
	for _, name := range slices.Sorted(maps.Keys(opts.Params)) {
		if err := checkParam(name, known); err != nil {
			return nil, err
		}
	}
	resolved, err := capture.Resolve(t, opts.Device)
	if err != nil {
		return nil, err
	}
	out := &Outcome{results: map[*Analyzer]any{}}
	for _, a := range order {
		if lacks, ok := missing(a, t); ok {
			out.Skipped = append(out.Skipped, Skip{a.Name, lacks, Capture[lacks]})
			continue
		}
		p := &Pass{
			Context: ctx, Trace: t, Capture: resolved, Kernel: opts.Kernel, Workers: max(opts.Workers, 1),
			running: a, params: opts.Params, out: out,
		}
		res, err := a.run(p)
		if err != nil {
			return nil, err
		}
		out.results[a] = res
	}
	finding.Sort(out.Findings)
	return out, nil
}

func missing(a *Analyzer, t *trace.Trace) (Evidence, bool) {
	for _, e := range a.Needs {
		if e == ThreadTraces && len(t.ThreadTraces) == 0 || e == Counters && len(t.CounterRuns) == 0 || e == Samples && len(t.SampleRuns) == 0 {
			return e, true
		}
	}
	return "", false
}

// sorted returns the analyzers and their requirements, requirements first.
func sorted(roots []Required) ([]*Analyzer, error) {
	const visiting, done = 1, 2
	state := map[*Analyzer]int{}
	var order []*Analyzer
	var visit func(a *Analyzer, path []string) error
	visit = func(a *Analyzer, path []string) error {
		path = append(path, a.Name)
		switch state[a] {
		case done:
			return nil
		case visiting:
			return fmt.Errorf("analyzers require each other: %s", strings.Join(path, " -> "))
		}
		state[a] = visiting
		for _, r := range a.Requires {
			if err := visit(r.analyzer(), path); err != nil {
				return err
			}
		}
		state[a] = done
		order = append(order, a)
		return nil
	}
	for _, r := range roots {
		if err := visit(r.analyzer(), nil); err != nil {
			return nil, err
		}
	}
	return order, nil
}
