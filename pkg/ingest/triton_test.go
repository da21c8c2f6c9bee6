package ingest

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func TestReadTriton(t *testing.T) {
	tests := []struct {
		name, text, arch string
		shared, wave     int
		ok               bool
	}{
		{"Triton 3.1 and later", `{"target": {"backend": "hip", "arch": "gfx942", "warp_size": 64}, "num_warps": 4, "shared": 16384, "name": "k"}`, "gfx942", 16384, 64, true},
		{"a list", `{"target": ["hip", "gfx90a"], "num_warps": 4, "shared": 0, "name": "k", "warp_size": 64}`, "gfx90a", 0, 64, true},
		{"beside the target", `{"target": "hip:gfx90a", "arch": "gfx90a", "num_warps": 8, "shared": 5, "name": "k"}`, "gfx90a", 5, 0, true},
		{"NVIDIA", `{"target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4, "shared": 1, "name": "k"}`, "", 1, 32, true},
		{"a group", `{"child_paths": {}}`, "", 0, 0, false},
		{"no LDS", `{"num_warps": 4, "name": "k"}`, "", 0, 0, false},
		{"no kernel", `{"num_warps": 4, "shared": 0}`, "", 0, 0, false},
		{"negative", `{"num_warps": 4, "shared": -1, "name": "k"}`, "", -1, 0, false},
		{"too many", `{"num_warps": 4000000, "shared": 0, "name": "k"}`, "", 0, 0, false},
		{"text", `"num_warps": 4`, "", 0, 0, false},
		{"not a number", `{"num_warps": "4", "shared": 0, "name": "k"}`, "", 0, 0, false},
	}
	for _, tt := range tests {
		k, target, ok := readTriton([]byte(tt.text))
		if ok != tt.ok {
			t.Errorf("%s: read %v", tt.name, ok)
		}
		arch, _ := target.Arch.(string)
		if ok && (arch != tt.arch || *k.Shared != tt.shared || target.WarpSize != tt.wave) {
			t.Errorf("%s: %s, %d B, %d lanes", tt.name, arch, *k.Shared, target.WarpSize)
		}
	}
}

// A kernel whose listing and object lie side by side is one kernel; others stay.
func TestTwins(t *testing.T) {
	object := func(kind, path, target string, kernels ...string) *trace.CodeObject {
		co := &trace.CodeObject{Kind: kind, Path: path, Target: target}
		for _, k := range kernels {
			co.Kernels = append(co.Kernels, trace.CodeKernel{Name: k, Symbol: k})
		}
		return co
	}
	twin := object("assembly", "c/a.amdgcn", "gfx942", "k")
	twin.Kernels[0].LLVMOccupancy = new(4)
	kept := []*trace.CodeObject{
		object("assembly", "c/b.amdgcn", "gfx942", "k"), // no object beside it
		object("code_object", "c/a.hsaco", "gfx942", "k"),
		object("assembly", "c/d.s", "gfx942", "k", "more"),
		object("code_object", "c/d.co", "gfx942", "k"),
		object("assembly", "c/e.s#gfx90a", "gfx90a", "k"),
		object("code_object", "c/e.co#offset=1&size=2", "gfx942", "k"),
		object("assembly", "f/a.amdgcn", "gfx942", "k"), // another directory
	}
	o := &opener{tr: &trace.Trace{}}
	got := o.withoutTwins(append([]*trace.CodeObject{twin, object("assembly", "c/e.s#gfx942", "gfx942", "k")}, kept...))
	if len(got) != len(kept) {
		t.Fatalf("%d objects, want %d", len(got), len(kept))
	}
	for i := range got {
		if got[i] != kept[i] {
			t.Errorf("object %d is %s", i, got[i].Path)
		}
	}
	if n := kept[1].Kernels[0].LLVMOccupancy; n == nil || *n != 4 {
		t.Error("what LLVM printed into the listing is lost")
	}
}

func FuzzReadTriton(f *testing.F) {
	f.Add([]byte(`{"target": {"backend": "hip", "arch": "gfx942", "warp_size": 64}, "num_warps": 4, "shared": 16384, "name": "k"}`))
	f.Add([]byte(`{"target": ["hip", "gfx90a"], "num_warps": 4, "shared": 0, "name": "k", "warp_size": 64}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, target, ok := readTriton(b)
		if !ok {
			return
		}
		l := k.launch("f", target, &trace.CodeKernel{})
		if *l.DynamicLDSBytes < 0 || l.Workgroup != nil && *l.Workgroup < 1 {
			t.Errorf("%+v", l)
		}
	})
}
