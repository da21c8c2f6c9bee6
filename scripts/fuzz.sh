#!/bin/sh
# Runs every fuzz target of the module for a moment: sh scripts/fuzz.sh 2s
set -eu
time=${1:-2s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fuzz() {
	go test -run='^$' -fuzz="^$2\$" -fuzztime="$time" "$1" >"$log" 2>&1
}

# On a busy machine Go may report the end of the fuzz time as a failure of its
# own, with no failing input (golang/go#75804): then one more try.
overran() {
	grep -q 'context deadline exceeded' "$log" && ! grep -qi 'failing input\|panic' "$log"
}

grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u | while read -r target; do
		echo "fuzz $dir $target"
		fuzz "$dir" "$target" || { overran && fuzz "$dir" "$target"; } || {
			cat "$log"
			exit 1
		}
	done
done
