#!/bin/sh
# Runs every fuzz target of the module for a moment: sh scripts/fuzz.sh 2s
set -eu
time=${1:-2s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u | while read -r target; do
		echo "fuzz $dir $target"
		go test -run='^$' -fuzz="^$target\$" -fuzztime="$time" "$dir" >"$log" 2>&1 || {
			cat "$log"
			exit 1
		}
	done
done
