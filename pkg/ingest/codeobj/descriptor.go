package codeobj

import "encoding/binary"

// descriptorSize is the size of a kernel descriptor in bytes.
const descriptorSize = 64

// sgprsGFX10 is what every wave gets on gfx10 and later, whatever it uses.
const sgprsGFX10 = 128

// decodeDescriptor reads the 64 bytes of a kernel descriptor for one generation;
// when that is not known, only the fields that all generations share are set.
// Layout: llvm/Support/AMDHSAKernelDescriptor.h.
func decodeDescriptor(b []byte, g generation, known bool) *Descriptor {
	le := binary.LittleEndian
	raw := RawDescriptor{
		Rsrc3:      le.Uint32(b[44:]),
		Rsrc1:      le.Uint32(b[48:]),
		Rsrc2:      le.Uint32(b[52:]),
		Properties: le.Uint16(b[56:]),
	}
	d := &Descriptor{
		LDSBytes:     new(int(le.Uint32(b[0:]))),
		ScratchBytes: new(int(le.Uint32(b[4:]))),
		KernargBytes: new(int(le.Uint32(b[8:]))),
		DynamicStack: new(raw.Properties>>11&1 == 1),
		Raw:          &raw,
	}
	if known {
		d.decodeRegisters(g)
	}
	return d
}

// decodeRegisters sets what RSRC1 to RSRC3 mean on this generation.
func (d *Descriptor) decodeRegisters(g generation) {
	raw := d.Raw
	wave32 := !g.gfx9 && raw.Properties>>10&1 == 1
	d.Wave32 = &wave32
	d.setVGPRs(g, int(raw.Rsrc1&0x3f)+1)
	d.setSGPRs(g, int(raw.Rsrc1>>6&0xf)+1)
	if g.unified {
		d.AccumOffset = new((int(raw.Rsrc3&0x3f) + 1) * 4)
		d.TGSplit = new(raw.Rsrc3>>16&1 == 1)
	}
	if g.wgp {
		d.WGPMode = new(raw.Rsrc1>>29&1 == 1)
	}
	if g.namedBarriers {
		d.NamedBarriers = new(int(raw.Rsrc3>>14&7) * barriersPerBlock)
	}
	switch g.dynVGPR {
	case 2:
		d.DynamicVGPR = new(raw.Rsrc2>>6&1 == 1)
	case 3:
		d.DynamicVGPR = new(raw.Rsrc3>>17&1 == 1)
	}
}

// barriersPerBlock: NAMED_BAR_CNT and .amdhsa_named_barrier_count count blocks of
// four (LLVM AMDGPUUsage, COMPUTE_PGM_RSRC3 for gfx125x).
const barriersPerBlock = 4

func (d *Descriptor) setVGPRs(g generation, blocks int) {
	d.VGPRBlocks = &blocks
	d.VGPRs = new(blocks * g.vgprGranule(*d.Wave32))
}

// setSGPRs takes blocks of 8; gfx9 allocates two of them at a time.
func (d *Descriptor) setSGPRs(g generation, blocks int) {
	if !g.gfx9 {
		d.SGPRs = new(sgprsGFX10)
		return
	}
	d.SGPRBlocks = &blocks
	d.SGPRs = new((blocks + 1) / 2 * 16)
}

// countVGPRs sets ArchVGPRs, TotalVGPRs and AGPRsApart.
func (k *Kernel) countVGPRs(g generation, known bool) {
	k.TotalVGPRs = k.Metadata.VGPRCount
	if n := k.withAGPRs(g); n != nil {
		k.TotalVGPRs, k.AGPRsApart = n, true
		k.ArchVGPRs = k.Metadata.VGPRCount
		return
	}
	k.ArchVGPRs = k.archVGPRs(g, known)
}

// withAGPRs is the total of a kernel whose .vgpr_count cannot hold its AGPRs, as
// hand-written metadata has it: they begin at ACCUM_OFFSET, so that a wave has at
// least ACCUM_OFFSET+AGPRs. Nil where the metadata is as LLVM writes it, and where
// the descriptor allocates fewer than that.
func (k *Kernel) withAGPRs(g generation) *int {
	total, agprs := k.Metadata.VGPRCount, k.Metadata.AGPRCount
	if !g.unified || total == nil || agprs == nil || *agprs == 0 {
		return nil
	}
	d := k.Descriptor
	switch {
	case d != nil && d.AccumOffset != nil:
		n := *d.AccumOffset + *agprs
		if *total < n && (d.VGPRs == nil || n <= *d.VGPRs) {
			return &n
		}
	case *agprs > *total:
		return new(int(alignTo(int64(*total), 4)) + *agprs)
	}
	return nil
}

// archVGPRs finds the architectural VGPRs a kernel uses. A listing says it; the
// metadata only has the total. With one unified file the total is
// alignTo(arch, 4)+AGPRs, so that total-AGPRs is arch rounded to 4 when there are
// AGPRs, and arch itself when there are none. Without an AGPR count ACCUM_OFFSET,
// arch rounded to 4, bounds it. With two files the total is the larger one, so
// that arch is only known when it is that one.
func (k *Kernel) archVGPRs(g generation, known bool) *int {
	if k.Comments != nil && k.Comments.NumVGPRs != nil {
		return k.Comments.NumVGPRs
	}
	total, agprs := k.Metadata.VGPRCount, k.Metadata.AGPRCount
	switch {
	case !known:
		return nil
	case g.unified:
		return archUnified(total, agprs, k.Descriptor)
	case total == nil:
		return nil
	case g.split && (agprs == nil || *agprs >= *total && *agprs > 0):
		return nil
	}
	return total
}

func archUnified(total, agprs *int, d *Descriptor) *int {
	var accum *int
	if d != nil {
		accum = d.AccumOffset
	}
	switch {
	case total == nil:
		return accum
	case agprs != nil && *agprs <= *total:
		return new(*total - *agprs)
	case agprs == nil && accum != nil:
		return new(min(*total, *accum))
	}
	return nil
}
