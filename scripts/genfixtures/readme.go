package main

import (
	"bytes"
	"fmt"
)

// readme is fixtures/README.md.
func readme(captures []good) []byte {
	var b bytes.Buffer
	b.WriteString(`# Fixtures

Small captures of invented kernels, for tests and examples. Nothing here was measured: a simulator ran the kernels, so
that all files of a capture agree (the sums of code.json are exactly those of the wave files, the occupancy events are
the waves' begins and ends, the wait edges are the outstanding operations). Never edit them; change
` + "`scripts/genfixtures`" + ` and write them anew with

    make fixtures

which runs ` + "`go run ./scripts/genfixtures`" + `. A test there fails when a file differs from what the generator makes.

## Captures

| folder | what |
|---|---|
`)
	for _, g := range captures {
		fmt.Fprintf(&b, "| att/%s/%s | %s |\n", g.name, g.capture.dirName(), g.about)
	}
	b.WriteString(`| att/gemm.tar.gz | the folder att/gemm packed, as it is attached to bug reports |
| att/gemm.tar.xz | the same, packed by xz |
| att/copy.zip | the folder att/copy packed |
| pcs/stochastic, pcs/host_trap, pcs/results | samples of att/gemm's kernel under PC sampling, see the README there |

Beside each dispatch directory lie the stats CSV of the decoder and, for schema 3.0.0, ` + "`*_kernel_trace.csv`" + ` and
` + "`*_agent_info.csv`" + ` of the same run.

## Malformed captures

Each folder below att/malformed holds one ` + "`" + malformedDir + "`" + ` of a small saxpy kernel with one thing wrong or
unusual. The file att/malformed/outside lies outside of every capture and must never be shown.

| folder | what is wrong or unusual |
|---|---|
`)
	for _, m := range malformedKinds() {
		fmt.Fprintf(&b, "| %s | %s |\n", m.kind, m.about)
	}
	return b.Bytes()
}
