package kerneltrace

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const rocminfoText = `CMD: rocminfo
*******
Agent 1
*******
  Name:                    AMD EPYC
  Node:                    0
  Device Type:             CPU
  Compute Unit:            64
*******
Agent 2
*******
  Name:                    gfx90a
  Marketing Name:          AMD Instinct MI250X
  Node:                    4
  Device Type:             GPU
  Chip ID:                 29704(0x7408)
  Max Clock Freq. (MHz):   1700
  Compute Unit:            110
  SIMDs per CU:            4
  Shader Engines:          0
  Wavefront Size:          64(0x40)
  Pool Info:
      Name:                other
  ISA Info:
      Name:                amdgcn-amd-amdhsa--gfx90a
*******
Agent 3
*******
  Name:                    gfx90a
  Marketing Name:          AMD Instinct MI250X
  Node:                    5
  Device Type:             GPU
`

func TestReadRocminfo(t *testing.T) {
	agents, err := ReadRocminfo(strings.NewReader(rocminfoText), "r.sysinfo.txt")
	if err != nil || len(agents) != 2 {
		t.Fatalf("%+v, %v", agents, err)
	}
	a := agents[0]
	if a.NodeID != 4 || a.Gfx != "gfx90a" || a.Product != "AMD Instinct MI250X" || *a.CUs != 110 || *a.DeviceID != 29704 || *a.MaxClockMHz != 1700 || *a.WaveSize != 64 || *a.SIMDsPerCU != 4 || a.Engines != nil {
		t.Errorf("%+v", a)
	}
	if b := agents[1]; b.NodeID != 5 || b.CUs != nil {
		t.Errorf("%+v", b)
	}
	if _, err := ReadRocminfo(strings.NewReader("Agent 1\nName: gfx90a\n"), "x"); err == nil {
		t.Error("an agent without a node is one")
	}
}

// TestDescribe: nodes name GPUs, and numbers of the profiler's own do where all
// GPUs are alike.
func TestDescribe(t *testing.T) {
	a, other := trace.Agent{NodeID: 4, Gfx: "gfx90a"}, trace.Agent{NodeID: 5, Gfx: "gfx942"}
	for _, c := range []struct {
		agents []trace.Agent
		want   map[int64]string
	}{
		{[]trace.Agent{a}, map[int64]string{0: "gfx90a", 4: "gfx90a"}},
		{[]trace.Agent{a, other}, map[int64]string{4: "gfx90a"}},
		{nil, map[int64]string{}},
	} {
		table := read(t, "Index,KernelName,gpu-id,grd,wgr\n0,f,0,64,64\n1,f,4,64,64\n")
		table.Describe(c.agents)
		got := map[int64]string{}
		for _, a := range table.Agents {
			got[a.NodeID] = a.Gfx
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[4] != c.want[4] {
			t.Errorf("%v: %v, want %v", c.agents, got, c.want)
		}
	}
}

func FuzzReadRocminfo(f *testing.F) {
	f.Add(rocminfoText)
	f.Add("Agent 1\nAgent 2\nDevice Type: CPU\nNode: 99999999999999999999\n")
	f.Fuzz(func(t *testing.T, in string) {
		agents, err := ReadRocminfo(strings.NewReader(in), "x")
		if (err == nil) == (len(agents) == 0) || len(agents) > maxAgents {
			t.Fatalf("%d agents, %v", len(agents), err)
		}
		for _, a := range agents {
			if a.NodeID < 0 || !strings.HasPrefix(a.Gfx, "gfx") {
				t.Fatalf("%+v", a)
			}
		}
	})
}
