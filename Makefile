# One static binary: the build needs no C compiler. Tests with the race
# detector do.
export CGO_ENABLED ?= 0
FUZZTIME ?= 2s

.PHONY: build test check lint fuzz bench fixtures registry analyzer schemas

build:
	go build -trimpath -ldflags=-s -o rocanalyze ./cmd/rocanalyze

test:
	CGO_ENABLED=1 go test -race ./...

# Formatting, vet, linters, tests with the race detector, every fuzz target for
# a moment, and proof that the fixtures are what their generator writes.
check: lint build test fuzz
	sh scripts/fixtures-current.sh

lint:
	sh scripts/lint.sh

fuzz:
	sh scripts/fuzz.sh $(FUZZTIME)

bench:
	sh scripts/bench.sh

fixtures:
	go run ./scripts/genfixtures
	go run ./scripts/gencounters
	go run ./scripts/genrocpd

registry:
	go run ./scripts/genregistry

# The JSON Schemas in schema/, from the types of the results.
schemas:
	go test ./cmd/rocanalyze -run Schemas -update

analyzer:
	@test -n "$(NAME)" || { echo 'usage: make analyzer NAME=x' >&2; exit 2; }
	go run ./scripts/genregistry -new $(NAME)
