package analysis

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Options are what a user may set for a run.
type Options struct {
	Kernel  *regexp.Regexp
	Device  string
	Workers int
	// Params maps ANALYZER.NAME to a value.
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

// Result returns what an analyzer of the run returned, nil if it was skipped.
func (o *Outcome) Result(a *Analyzer) any { return o.results[a] }

// Run runs the analyzers and all that they require, each once and after its
// requirements. It refuses cycles and parameters that nobody declares.
func Run(ctx context.Context, t *trace.Trace, opts Options, analyzers ...*Analyzer) (*Outcome, error) {
	order, err := sorted(analyzers)
	if err != nil {
		return nil, err
	}
	if err := checkParams(order, opts.Params); err != nil {
		return nil, err
	}
	out := &Outcome{results: map[*Analyzer]any{}}
	for _, a := range order {
		if lacks, ok := missing(a, t); ok {
			out.Skipped = append(out.Skipped, Skip{a.Name, lacks, Capture[lacks]})
			continue
		}
		p := &Pass{
			Context: ctx, Trace: t, Kernel: opts.Kernel, Device: opts.Device, Workers: max(opts.Workers, 1),
			analyzer: a, params: opts.Params, results: out.results, findings: &out.Findings,
		}
		res, err := a.Run(p)
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
		if e == ThreadTraces && len(t.ThreadTraces) == 0 || e == Counters && len(t.CounterRuns) == 0 {
			return e, true
		}
	}
	return "", false
}

// sorted returns the analyzers and their requirements, requirements first.
func sorted(roots []*Analyzer) ([]*Analyzer, error) {
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
			if err := visit(r, path); err != nil {
				return err
			}
		}
		state[a] = done
		order = append(order, a)
		return nil
	}
	for _, a := range roots {
		if err := visit(a, nil); err != nil {
			return nil, err
		}
	}
	return order, nil
}

func checkParams(order []*Analyzer, params map[string]float64) error {
	known := map[string]bool{}
	for _, a := range order {
		for _, d := range a.Params {
			known[a.Name+"."+d.Name] = true
		}
	}
	for name := range params {
		if !known[name] {
			return fmt.Errorf("no parameter %q in this command", name)
		}
	}
	return nil
}
