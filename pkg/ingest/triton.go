package ingest

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// tritonKernel is what Triton writes into NAME.json beside NAME.amdgcn and
// NAME.hsaco in its cache (triton/compiler/compiler.py, CompiledKernel).
type tritonKernel struct {
	Name string `json:"name"`
	// Shared is the LDS in bytes that the launcher asks for, beside the static
	// one of the code.
	Shared   *int `json:"shared"`
	NumWarps *int `json:"num_warps"`
	// Target is {"backend": "hip", "arch": "gfx942", "warp_size": 64}; before
	// Triton 3.1 a list, with arch and warp_size beside it.
	Target   json.RawMessage `json:"target"`
	Arch     any             `json:"arch"`
	WarpSize int             `json:"warp_size"`
}

type tritonTarget struct {
	Backend  string `json:"backend"`
	Arch     any    `json:"arch"` // a number for NVIDIA
	WarpSize int    `json:"warp_size"`
}

// Bounds of what such a file says.
const (
	maxTritonBytes = 1 << 20
	maxWarps       = 1 << 10
	maxShared      = 1 << 24
)

// readTriton reads a kernel's description; ok is false for any other JSON.
func readTriton(data []byte) (k tritonKernel, t tritonTarget, ok bool) {
	if json.Unmarshal(data, &k) != nil || k.NumWarps == nil || k.Shared == nil || k.Name == "" {
		return k, t, false
	}
	var list []any
	switch {
	case json.Unmarshal(k.Target, &t) == nil:
	case json.Unmarshal(k.Target, &list) == nil && len(list) > 1:
		t.Backend, _ = list[0].(string)
		t.Arch = list[1]
	}
	if t.Arch == nil {
		t.Arch = k.Arch
	}
	if t.WarpSize == 0 {
		t.WarpSize = k.WarpSize
	}
	return k, t, *k.NumWarps > 0 && *k.NumWarps <= maxWarps && *k.Shared >= 0 && *k.Shared <= maxShared
}

// tritonSuffixes are the files of Triton's cache that hold AMD code.
var tritonSuffixes = []string{".hsaco", ".amdgcn"}

// triton tells the code objects of a file of Triton's cache how they are
// launched, by the description beside it.
func (o *opener) triton(c *candidate, objs []*trace.CodeObject) {
	ext := path.Ext(c.name)
	if c.fsys == nil || !slices.Contains(tritonSuffixes, ext) {
		return
	}
	beside := c.beside(strings.TrimSuffix(path.Base(c.name), ext) + ".json")
	var data []byte
	if readSmall(&beside, func(r io.Reader) (err error) {
		data, err = readMember(r, maxTritonBytes)
		return err
	}) != nil {
		return // an object that is not of a cache
	}
	k, t, ok := readTriton(data)
	if !ok {
		o.note(trace.Warning, beside.shown, "not read as Triton's description of the kernel beside it: its LDS and workgroup are not known")
		return
	}
	for _, co := range objs {
		if arch, _ := t.Arch.(string); arch != "" && co.Target != "" && arch != bareTarget(co.Target) {
			o.note(trace.Warning, beside.shown, fmt.Sprintf("it is for %s, the code for %s: not used", arch, co.Target))
			continue
		}
		for i := range co.Kernels {
			if ck := &co.Kernels[i]; ck.Name == k.Name || len(co.Kernels) == 1 {
				ck.Launch = k.launch(beside.shown, t, ck)
			}
		}
	}
}

func bareTarget(target string) string {
	bare, _, _ := strings.Cut(target, ":")
	return bare
}

func (k *tritonKernel) launch(source string, t tritonTarget, ck *trace.CodeKernel) *trace.CodeLaunch {
	l := &trace.CodeLaunch{Source: source, DynamicLDSBytes: k.Shared}
	wave := t.WarpSize
	if wave == 0 && ck.WaveSize != nil {
		wave = *ck.WaveSize
	}
	if wave == 32 || wave == 64 {
		l.Workgroup = new(*k.NumWarps * wave)
	}
	return l
}

// withoutTwins leaves out the listings whose code lies beside them as an object:
// one kernel is shown once.
func (o *opener) withoutTwins(objs []*trace.CodeObject) []*trace.CodeObject {
	binaries := map[string][]*trace.CodeObject{}
	for _, co := range objs {
		if co.Kind == "code_object" {
			stem := stemOf(co.Path)
			binaries[stem] = append(binaries[stem], co)
		}
	}
	return slices.DeleteFunc(objs, func(co *trace.CodeObject) bool {
		if co.Kind != "assembly" {
			return false
		}
		for _, twin := range binaries[stemOf(co.Path)] {
			if twin.Target == co.Target && sameCode(twin, co) {
				o.note(trace.Info, co.Path, "left out: "+path.Base(twin.Path)+" beside it is the same code")
				return true
			}
		}
		return false
	})
}

// stemOf is a code object's file without its suffix.
func stemOf(p string) string {
	file, _, _ := strings.Cut(p, "#")
	return strings.TrimSuffix(file, path.Ext(file))
}

// sameCode reports whether an object has every kernel of a listing, and hands on what
// only a listing tells.
func sameCode(object, listing *trace.CodeObject) bool {
	found := make([]*trace.CodeKernel, len(listing.Kernels))
	for i := range listing.Kernels {
		for j := range object.Kernels {
			if object.Kernels[j].Symbol == listing.Kernels[i].Symbol {
				found[i] = &object.Kernels[j]
			}
		}
		if found[i] == nil {
			return false
		}
	}
	for i, k := range found {
		if k.LLVMOccupancy == nil {
			k.LLVMOccupancy = listing.Kernels[i].LLVMOccupancy
		}
	}
	return len(found) > 0
}
