#!/bin/sh
# Formatting, vet and the pinned linters. They run from here, not from go.mod,
# which lists only what the binary and its tests need.
set -eu
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
gofumpt=mvdan.cc/gofumpt@v0.12.0

unformatted=$(go run "$gofumpt" -l .)
if [ -n "$unformatted" ]; then
	printf 'not formatted (go run %s -w .):\n%s\n' "$gofumpt" "$unformatted" >&2
	exit 1
fi
go vet ./...
go run "$staticcheck" ./...
go mod tidy -diff
