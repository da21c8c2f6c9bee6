package codeobj

import "bytes"

// foreign is a kind of code that is not AMD GPU machine code: what its text has,
// all of it, and what to give instead.
type foreign struct {
	marks        []string
	what, advice string
}

const (
	giveListing = "give the .s of hipcc -S --cuda-device-only, or the code object"
	giveTriton  = "give NAME.amdgcn or NAME.hsaco of the same cache directory"
	otherGPU    = "only code of AMD GPUs is read"
)

// foreigners are the kinds, most special first.
func foreigners() []foreign {
	return []foreign{
		{[]string{"\n.version ", "\n.target sm_"}, "NVIDIA PTX", otherGPU},
		{[]string{"\n{", `"num_warps"`, `"shared"`}, "Triton's description of a kernel, without its code", "give its cache directory, or NAME.hsaco"},
		{[]string{"code for sm_"}, "NVIDIA machine code (SASS)", otherGPU},
		{[]string{"#ttg."}, "Triton's intermediate code", giveTriton},
		{[]string{"#triton_gpu."}, "Triton's intermediate code", giveTriton},
		{[]string{"tt.func "}, "Triton's intermediate code", giveTriton},
		{[]string{"llvm.func @"}, "MLIR, not machine code", giveListing},
		{[]string{"target triple = \"amdgcn"}, "LLVM IR, not machine code", "compile it: llc -mcpu=gfx942, or " + giveListing},
		{[]string{"target triple = \"nvptx"}, "LLVM IR for NVIDIA GPUs", otherGPU},
		{[]string{"target triple = \""}, "LLVM IR of the host", giveListing},
		{[]string{"OpCapability "}, "SPIR-V assembly", giveListing},
		{[]string{"%rsp"}, "x86 assembly", giveListing},
		{[]string{"%rax"}, "x86 assembly", giveListing},
		{[]string{"\trsp"}, "x86 assembly", giveListing},
		{[]string{"qword ptr ["}, "x86 assembly", giveListing},
		{[]string{"\tstp\tx29, x30"}, "AArch64 assembly", giveListing},
		{[]string{".cfi_startproc"}, "assembly of the host", giveListing},
		{[]string{"\t.text\n", "\t.globl\t"}, "assembly of another machine", giveListing},
		{[]string{"__global__ "}, "HIP or CUDA source", "compile it: " + giveListing},
		{[]string{"#include "}, "source code", "compile it: " + giveListing},
	}
}

// cudaMachine is e_machine of NVIDIA's code (EM_CUDA).
const cudaMachine = 190

// Foreign says what the code or the source in a file is that begins with head and
// is not of an AMD GPU, and what to give instead; empty for anything else.
func Foreign(head []byte) (what, advice string) {
	if m := elfMachine(head); m == cudaMachine {
		return "NVIDIA machine code (a cubin)", otherGPU
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "", ""
	}
	head = bytes.ReplaceAll(append([]byte("\n"), head...), []byte("\r\n"), []byte("\n"))
	for _, f := range foreigners() {
		all := true
		for _, mark := range f.marks {
			all = all && bytes.Contains(head, []byte(mark))
		}
		if all {
			return f.what, f.advice
		}
	}
	return "", ""
}
