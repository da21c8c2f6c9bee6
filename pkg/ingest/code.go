package ingest

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/codeobj"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxObjectBytes bounds a code object that is not on disk.
const maxObjectBytes = 1 << 30

// codeObject reads a code object, a bundle of them, or a binary that carries
// one. What can be read of a damaged file is kept.
func (o *opener) codeObject(c *candidate) error {
	rest, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	r, size, err := randomAccess(c.file, rest)
	if err != nil {
		return c.fail(err, "")
	}
	objs, err := codeobj.Read(r, size, c.shown)
	if err != nil && len(objs) == 0 {
		return c.fail(err, "")
	}
	o.addObjects(c, "code_object", objs, err)
	return nil
}

func (o *opener) assembly(c *candidate) error {
	rest, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	objs, err := codeobj.ReadAssembly(rest, c.shown, o.opts.Arch)
	if err != nil && !slices.ContainsFunc(objs, func(obj codeobj.Object) bool { return len(obj.Kernels) > 0 }) {
		return c.fail(err, "")
	}
	o.addObjects(c, "assembly", objs, err)
	return nil
}

// randomAccess gives the whole file at any offset: from disk, else from memory.
func randomAccess(file fs.File, rest io.Reader) (io.ReaderAt, int64, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if r, ok := file.(io.ReaderAt); ok {
		return r, info.Size(), nil
	}
	data, err := readMember(rest, maxObjectBytes)
	if err != nil {
		return nil, 0, err
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

// addObjects turns code objects into the trace's form. damage is the error
// that came with them, if any.
func (o *opener) addObjects(c *candidate, kind string, objs []codeobj.Object, damage error) {
	if damage != nil {
		o.note(trace.Damage, c.shown, strings.TrimPrefix(damage.Error(), c.shown+": "))
	}
	first := len(o.tr.CodeObjects)
	for _, obj := range objs {
		co := &trace.CodeObject{Path: obj.Path, Kind: kind, Target: obj.Target}
		for _, n := range obj.Notes {
			o.note(trace.Warning, obj.Path, n)
		}
		for i := range obj.Kernels {
			co.Kernels = append(co.Kernels, codeKernel(&obj.Kernels[i]))
		}
		o.tr.CodeObjects = append(o.tr.CodeObjects, co)
	}
	o.triton(c, o.tr.CodeObjects[first:])
}

func codeKernel(k *codeobj.Kernel) trace.CodeKernel {
	m := &k.Metadata
	out := trace.CodeKernel{
		Name: k.Name, Symbol: trace.BareName(k.Symbol),
		VGPRs: k.TotalVGPRs, ArchVGPRs: k.ArchVGPRs, AGPRs: m.AGPRCount, SGPRs: m.SGPRCount,
		VGPRSpills: m.VGPRSpillCount, SGPRSpills: m.SGPRSpillCount,
		LDSBytes: m.LDSBytes, ScratchBytes: m.ScratchBytes,
		MaxWorkgroup: m.MaxWorkgroupSize, ReqWorkgroup: m.ReqdWorkgroupSize,
		WaveSize: m.WavefrontSize, WGPMode: m.WorkgroupProcessor, DynamicStack: m.UsesDynamicStack,
	}
	if k.AGPRsApart {
		out.VGPRsListed = m.VGPRCount
	}
	if c := k.Comments; c != nil {
		out.LLVMOccupancy = c.Occupancy
	}
	d := k.Descriptor
	if d == nil {
		return out
	}
	out.Descriptor = &trace.CodeDescriptor{
		VGPRs: d.VGPRs, AccumOffset: d.AccumOffset, SGPRs: d.SGPRs,
		LDSBytes: d.LDSBytes, ScratchBytes: d.ScratchBytes, DynamicVGPR: d.DynamicVGPR,
	}
	if out.WaveSize == nil && d.Wave32 != nil {
		out.WaveSize = new(64)
		if *d.Wave32 {
			out.WaveSize = new(32)
		}
	}
	if out.WGPMode == nil {
		out.WGPMode = d.WGPMode
	}
	return out
}
