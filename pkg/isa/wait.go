package isa

import (
	"strconv"
	"strings"
)

// bitField is one count of a packed wait immediate: low bits and, where the
// field is split, high bits.
type bitField struct {
	counter    Counter
	shift      uint
	bits       uint
	highShift  uint
	highBits   uint
	minimumGen int
	maximumGen int
}

// waitFields is the encoding of the s_waitcnt immediate. A field with all bits
// set does not wait. Source: LLVM AMDGPUBaseInfo.cpp (getVmcntBitShiftLo and
// its siblings) and AMDGPU operand syntax "waitcnt"; the ISA documents agree.
var waitFields = []bitField{
	{Vmcnt, 0, 4, 14, 2, 9, 10},
	{Expcnt, 4, 3, 0, 0, 9, 10},
	{Lgkmcnt, 8, 4, 0, 0, 9, 9},
	{Lgkmcnt, 8, 6, 0, 0, 10, 10},
	{Vmcnt, 10, 6, 0, 0, 11, 12},
	{Expcnt, 0, 3, 0, 0, 11, 12},
	{Lgkmcnt, 4, 6, 0, 0, 11, 12},
}

// waitName maps the words of a wait instruction to a counter.
type waitName struct {
	name    string
	counter Counter
}

// symbolicWaits are the operands of s_waitcnt.
var symbolicWaits = []waitName{
	{"vmcnt", Vmcnt},
	{"lgkmcnt", Lgkmcnt},
	{"expcnt", Expcnt},
}

// singleWaits are the instructions that wait for one counter; the immediate is
// the count. Those of gfx10 and gfx11 add a scalar register to it, always null
// in compiled code.
var singleWaits = []waitName{
	{"s_waitcnt_vmcnt", Vmcnt},
	{"s_waitcnt_lgkmcnt", Lgkmcnt},
	{"s_waitcnt_expcnt", Expcnt},
	{"s_waitcnt_vscnt", Vscnt},
	{"s_wait_loadcnt", Loadcnt},
	{"s_wait_storecnt", Storecnt},
	{"s_wait_samplecnt", Samplecnt},
	{"s_wait_bvhcnt", Bvhcnt},
	{"s_wait_expcnt", Expcnt},
	{"s_wait_dscnt", Dscnt},
	{"s_wait_kmcnt", Kmcnt},
	{"s_wait_xcnt", Xcnt},
	{"s_wait_asynccnt", Asynccnt},
	{"s_wait_tensorcnt", Tensorcnt},
}

// pairWaits are the gfx12 instructions that wait for a memory counter (bits
// 13:8 of the immediate) and dscnt (bits 5:0). Source: LLVM AMDGPUBaseInfo.cpp,
// getLoadcntStorecntBitShift and getDscntBitShift.
var pairWaits = []waitName{
	{"s_wait_loadcnt_dscnt", Loadcnt},
	{"s_wait_storecnt_dscnt", Storecnt},
}

const (
	pairMask  = 0x3f
	pairShift = 8
)

// parseWait fills in what a wait instruction waits for. Waits that are not on a
// memory counter (s_wait_alu, s_waitcnt_depctr, s_wait_event) have no Waits.
func (in *Inst) parseWait(rest string, target Target) {
	switch in.Mnemonic {
	case "s_waitcnt":
		in.parseWaitcnt(rest, target)
		return
	case "s_wait_idle":
		in.WaitsAll = true
		if set, ok := target.counterSet(); ok {
			for _, c := range idleCounters[set] {
				in.Waits = append(in.Waits, Wait{c, 0})
			}
		}
		return
	}
	for _, w := range singleWaits {
		if w.name == in.Mnemonic {
			in.parseSingleWait(rest, w.counter)
			return
		}
	}
	for _, w := range pairWaits {
		if n, ok := parseImmediate(rest); ok && w.name == in.Mnemonic {
			in.Waits = []Wait{{w.counter, n >> pairShift & pairMask}, {Dscnt, n & pairMask}}
		}
	}
}

// parseSingleWait reads "0x3" or "null, 0x3". With another register than null
// the count is known only at run time and the wait stays empty.
func (in *Inst) parseSingleWait(rest string, c Counter) {
	if reg, imm, ok := strings.Cut(rest, ","); ok {
		if word, _ := cutWord(reg); word != "null" {
			return
		}
		rest = imm
	}
	if n, ok := parseImmediate(rest); ok {
		in.Waits = []Wait{{c, n}}
	}
}

// parseWaitcnt reads the operands of s_waitcnt: any of vmcnt(n), expcnt(n),
// lgkmcnt(n) in any order and with any separator, or a raw immediate.
func (in *Inst) parseWaitcnt(rest string, target Target) {
	if n, ok := parseImmediate(rest); ok {
		in.Waits = decodeWaitcnt(n, target.Generation())
		return
	}
	for {
		name, after, ok := strings.Cut(rest, "(")
		if !ok {
			return
		}
		number, tail, ok := strings.Cut(after, ")")
		if !ok {
			return
		}
		rest = tail
		name = strings.TrimLeft(name, " \t\r\n&,|")
		n, valid := parseImmediate(number)
		for _, w := range symbolicWaits {
			// "vmcnt_sat(n)" is an assembler spelling that clamps n.
			if valid && strings.TrimSuffix(name, "_sat") == w.name {
				in.Waits = append(in.Waits, Wait{w.counter, n})
			}
		}
	}
}

// decodeWaitcnt unpacks a raw s_waitcnt immediate; nil for generations whose
// encoding is not known.
func decodeWaitcnt(imm, generation int) []Wait {
	var waits []Wait
	for _, f := range waitFields {
		if generation < f.minimumGen || generation > f.maximumGen {
			continue
		}
		low := imm >> f.shift & (1<<f.bits - 1)
		high := imm >> f.highShift & (1<<f.highBits - 1)
		n := high<<f.bits | low
		if n != 1<<(f.bits+f.highBits)-1 {
			waits = append(waits, Wait{f.counter, n})
		}
	}
	return waits
}

// parseImmediate reads a 16-bit immediate, decimal or hexadecimal.
func parseImmediate(s string) (int, bool) {
	word, _ := cutWord(s)
	n, err := strconv.ParseUint(word, 0, 16)
	return int(n), err == nil
}
