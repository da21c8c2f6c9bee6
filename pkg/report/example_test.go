package report_test

import (
	"fmt"
	"os"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// One document, drawn for a terminal and written as CSV.
func Example() {
	doc := report.Document{Sections: []report.Section{{
		ID:    "hotspots",
		Title: "Hotspots",
		Items: []report.Item{report.Table{
			ID: "hotspots",
			Columns: []report.Column{
				{Key: "kernel", Title: "kernel", Flex: true, Elide: report.ElideName},
				{Key: "stall_cycles", Title: "stall cycles"},
				{Key: "share_pct", Title: "share", Bar: true},
			},
			Rows: [][]report.Cell{
				{report.Text("void gemm<float, Tile<64, 64>>(float*)"), report.Cycles(59012345), report.Pct(78.125)},
				{report.Text("void reduce<float>(float*, int)"), report.Cycles(16523456), report.Pct(21.875)},
			},
			Note: "share: of the stall cycles of all waves.",
		}},
	}}}
	if err := report.Terminal(os.Stdout, doc, report.Options{Width: 60}); err != nil {
		fmt.Println(err)
	}
	if err := report.CSV(os.Stdout, doc, "hotspots"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// -- Hotspots ------------------------------------------------
	// kernel                        stall cycles  share
	// gemm<float, Tile<64, 64>>          59.01 M  78.1% ########
	// reduce<float>(float*, int)         16.52 M  21.9% ##
	// share: of the stall cycles of all waves.
	// kernel,stall_cycles,share_pct
	// "void gemm<float, Tile<64, 64>>(float*)",59012345,78.125
	// "void reduce<float>(float*, int)",16523456,21.875
}
