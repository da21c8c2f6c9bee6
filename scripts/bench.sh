#!/bin/sh
# Go benchmarks, then whole commands against public Python scripts:
#   HOTSPOT_ANALYZER=path/to/hotspot_analyzer.py sh scripts/bench.sh [DISPATCH_DIR...]
# Ratios of one run are what counts; absolute times differ from machine to
# machine.
set -eu
go test -run='^$' -bench=. -benchmem ./pkg/... ./analyzers/...
go run ./scripts/benchcmd "$@"
