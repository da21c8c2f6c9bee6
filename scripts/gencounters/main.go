// Command gencounters writes the folder fixtures/pmc: small counter tables of
// the kernels of fixtures/att, in the formats of ROCm's profilers. All figures
// follow from the bytes that a kernel moves, so that the counters of a run agree
// with each other. The output depends on nothing but this folder.
//
// Run it at the root of the project:
//
//	go run ./scripts/gencounters            writes fixtures/pmc
//	go run ./scripts/gencounters -big FILE  writes a table of 500,000 rows, 107 MB
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	big := flag.String("big", "", "write a large table for benchmarks to this `file` instead")
	flag.Parse()
	if err := run(*big); err != nil {
		fmt.Fprintln(os.Stderr, "gencounters:", err)
		os.Exit(1)
	}
}

func run(big string) error {
	if big != "" {
		return writeBig(big)
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run it at the root of the project")
	}
	dir := filepath.Join("fixtures", "pmc")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, data := range fixtures() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
