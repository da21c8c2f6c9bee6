package pcsampling

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const header = `"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"
`

const reasonOf = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"

func none(int64) *Dispatch { return nil }

func TestRead(t *testing.T) {
	text := header +
		`1,18446744073709551615,1,"s_waitcnt vmcnt(0)","/a.hip:8",1,0,"NO_INST","` + reasonOf + `WAITCNT",8` + "\n" +
		`2,3,1,"s_waitcnt vmcnt(0)","/a.hip:8",1,0,"NO_INST","` + reasonOf + `OTHER_WAIT",6` + "\n" +
		`3,0xff,2,"v_add_f32 v0, v0, v1","/a.hip:9",1,1,"VALU","` + reasonOf + `NONE",4` + "\n" +
		`4,0,3,"","Unrecognized code object id, physical virtual address of PC:7",1,0,"NO_INST","` + reasonOf + `WAITCNT",4` + "\n" +
		`5,0,3,"s_nop 0","",1,2,"NO_INST","` + reasonOf + `WAITCNT",4` + "\n" // neither issued nor not
	k := &Dispatch{Kernel: 7, Name: "k", Agent: 2, Workgroup: [3]int64{64, 1, 1}, Grid: [3]int64{640, 1, 1}}
	run, notes, err := Read(strings.NewReader(text), "7.csv", func(id int64) *Dispatch {
		if id == 1 {
			return k
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.Method != trace.Stochastic || run.Samples != 4 || run.Undecoded != 1 || len(run.Kernels) != 2 || len(notes) != 1 {
		t.Fatalf("%+v, notes %v", run, notes)
	}
	named, unnamed := run.Kernels[0], run.Kernels[1]
	if named.Name != "k" || len(named.Agents) != 1 || named.Grid == nil || named.Samples != 2 || named.Dispatches != 1 || len(named.Insts) != 1 {
		t.Errorf("%+v", named)
	}
	in := named.Insts[0]
	if in.Samples != 2 || in.Issued != 0 || in.NotIssued["waitcnt"] != 1 || in.NotIssued["other_wait"] != 1 || in.Lanes != 66 || in.Waves != 14 || in.WavesOf != 2 {
		t.Errorf("%+v", in)
	}
	if unnamed.Name != "" || unnamed.Samples != 2 || unnamed.Undecoded != 1 || unnamed.Dispatches != 2 || unnamed.Insts[0].Issued != 1 || unnamed.Insts[0].Lanes != 8 {
		t.Errorf("%+v", unnamed)
	}
}

// What dispatches of one kernel do not have in common is open.
func TestDifferentDispatches(t *testing.T) {
	s := NewSums(&trace.SampleRun{Method: trace.HostTrap})
	a := &Dispatch{Kernel: 1, Name: "k", Agent: 2, Workgroup: [3]int64{64, 1, 1}, Grid: [3]int64{640, 1, 1}}
	b := *a
	b.Agent, b.Grid = 3, [3]int64{64, 1, 1}
	for i, d := range []*Dispatch{a, &b, a} {
		s.Add(&Sample{Dispatch: int64(i), Of: d, Decoded: true, Text: "s_nop 0", Waves: -1})
	}
	k := s.Done().Kernels[0]
	if !slices.Equal(k.Agents, []int64{2, 3}) || k.Grid != nil || k.Dispatches != 3 || k.Insts[0].Samples != 3 || k.Insts[0].WavesOf != 0 || len(k.Insts[0].NotIssued) != 0 {
		t.Errorf("%+v", k)
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]trace.SampleMethod{
		header: trace.Stochastic,
		"Sample_Timestamp,Exec_Mask,Dispatch_Id,Instruction,Instruction_Comment,Correlation_Id\n1,": trace.HostTrap,
		"Dispatch_Id,Instruction\n": "", "Dispatch_Id,Kernel_Name,Grid_Size\n": "", "": "",
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

func TestReason(t *testing.T) {
	for name, want := range map[string]string{reasonOf + "WAITCNT": "waitcnt", "ARBITER_NOT_WIN": "arbiter_not_win", "": ""} {
		if got := Reason(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzRead: no table leads to a panic, and no sample is lost or counted twice.
func FuzzRead(f *testing.F) {
	f.Add([]byte(header + `1,3,1,"s_nop 0","/a:1",1,1,"VALU","x",8` + "\n"))
	f.Add([]byte("Exec_Mask,Dispatch_Id,Instruction\n0x1,1,s_nop 0\n,2,\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		run, _, err := Read(strings.NewReader(string(b)), "x", none)
		if err != nil {
			return
		}
		var kernels, insts int64
		for _, k := range run.Kernels {
			kernels += k.Samples
			for _, in := range k.Insts {
				insts += in.Samples
				n := in.Issued
				for _, v := range in.NotIssued {
					n += v
				}
				if run.Method == trace.Stochastic && n != in.Samples {
					t.Fatalf("%d of %d samples issued or not", n, in.Samples)
				}
			}
		}
		if kernels != run.Samples || insts+run.Undecoded+run.Lumped != run.Samples {
			t.Fatalf("%d samples, %d in kernels, %d in instructions, %d undecoded", run.Samples, kernels, insts, run.Undecoded)
		}
	})
}
