package counters

import (
	"strings"
	"testing"
)

func TestSysinfo(t *testing.T) {
	a, err := ReadSysinfo(strings.NewReader("gpu_model,gpu_arch,cu_per_gpu,num_xcd,total_l2_chan,max_sclk,max_mclk,num_memory_channels,memory_partition,compute_partition,gpu_chip_id\nMI300X_A1,gfx942,304,8,128,0,,128,NPS4,NA,29857,more\n"), "dir/sysinfo.csv")
	if err != nil {
		t.Fatal(err)
	}
	if a.Gfx != "gfx942" || *a.CUs != 304 || *a.XCCs != 8 || *a.L2Channels != 128 || *a.MemoryChannels != 128 || *a.DeviceID != 29857 {
		t.Errorf("%+v", a)
	}
	if a.MaxClockMHz != nil || a.MemoryClockMHz != nil || a.ComputePartition != "" || a.MemoryPartition != "NPS4" {
		t.Error("clocks of 0 or nothing, and NA, are not known")
	}
	for _, bad := range []string{"", "a,b\n", "a,b\n1,2\n", "\"x"} {
		if _, err := ReadSysinfo(strings.NewReader(bad), "s"); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestRoofline(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          map[string]float64
	}{
		{
			"MI200", "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L1Bw,LDSBw,FP32Flops,MFMAI8Ops,MFMAFI8OpsLow\n0,1389.149,1388.5,1389.7,5017.4,9227.4,17716.9,20946.1,166394.9,165904.0\n",
			map[string]float64{"HBM": 1389.149, "L2": 5017.4, "L1": 9227.4, "LDS": 17716.9, "FP32Flops": 20946.1, "MFMAI8Ops": 166394.9},
		},
		{"devID, MALL, L0", "devID,HBMBw,MALLBw,L0Bw,MFMA_FLOPs_F6F4\n3,6237.3,8496.8,3775,\n", map[string]float64{"HBM": 6237.3, "MALL": 8496.8, "L0": 3775}},
	} {
		roofs, err := ReadRoofline(strings.NewReader(c.content), "r.csv")
		if err != nil || len(roofs) != len(c.want) {
			t.Errorf("%s: %+v, %v", c.name, roofs, err)
		}
		for _, r := range roofs {
			if c.want[r.Name] != r.Value || r.Origin.Row != 1 {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
	if _, err := ReadRoofline(strings.NewReader("a,b\n1,2\n"), "r.csv"); err == nil {
		t.Error("another table is read")
	}
}
