package main

import (
	"context"

	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// reads are what commands look at; the others look at everything.
var reads = map[string]ingest.Part{
	"hotspots": ingest.ThreadTraces, "loops": ingest.ThreadTraces, "waves": ingest.ThreadTraces,
	"counters": ingest.Counters, "l2": ingest.Counters,
	"kernels":   ingest.Dispatches,
	"occupancy": ingest.ThreadTraces | ingest.Dispatches | ingest.Code,
}

// open reads what a command needs of the paths.
func open(ctx context.Context, command string, paths []string) (*trace.Trace, error) {
	return ingest.Open(ctx, paths, ingest.Options{Only: reads[command]})
}
