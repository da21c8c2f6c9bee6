package main

import (
	"context"

	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	views "github.com/rocanalyze/rocanalyze/pkg/view"
)

// open reads what a command needs of the paths.
func open(ctx context.Context, command string, paths []string) (*trace.Trace, error) {
	switch command {
	case "hotspots", "loops", "waves":
		return ingest.Open(ctx, paths, ingest.Options{})
	case "occupancy":
		return ingest.Open(ctx, paths, ingest.Options{Kernels: true})
	case "counters", "l2":
		return ingest.Open(ctx, paths, ingest.Options{Counters: true})
	case "kernels":
		return ingest.Open(ctx, paths, ingest.Options{Runs: true})
	}
	return openAll(ctx, paths)
}

// kernelNames lists the first kernels of a trace.
func kernelNames(t *trace.Trace) string { return (&views.Input{Trace: t}).FirstKernels() }
