#!/bin/sh
# Fails when regenerating the fixtures changes any of them.
set -eu
before=$(find fixtures -type f -exec cksum {} + | sort -k3)
make -s fixtures
after=$(find fixtures -type f -exec cksum {} + | sort -k3)
if [ "$before" != "$after" ]; then
	echo "fixtures/ is not what the generators in scripts/ write: commit the result of 'make fixtures'" >&2
	exit 1
fi
echo "fixtures are current"
