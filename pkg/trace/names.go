package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// BareName is a kernel's name without what profilers put behind it, and
// without the white space around it: " [clone .kd]" (rocprof v1 and
// demanglers), " (.kd)" (v2) and ".kd", which the symbol of a kernel's
// descriptor ends in (LLVM, User Guide for AMDGPU Backend, "Kernel
// Descriptor"). All readers give names in this form.
func BareName(name string) string {
	name = strings.TrimSpace(name)
	for _, suffix := range [...]string{"[clone .kd]", "(.kd)", ".kd"} {
		if short, ok := strings.CutSuffix(name, suffix); ok {
			return BareName(short)
		}
	}
	return name
}

// NotKernel says what a row of a profiler's table stands for that is no kernel
// although it has a kernel's place there: "API calls", "copies", "barriers and
// markers" and the like, in the plural. ok is false for a kernel. Names of
// kernels with arguments or templates are never taken for anything else.
func NotKernel(name string) (what string, ok bool) {
	name = strings.Trim(strings.TrimSpace(name), `"`)
	if strings.ContainsAny(name, "(") || strings.HasSuffix(name, ".kd") {
		return "", false
	}
	for _, r := range notKernels {
		for _, p := range r.names {
			prefix, open := strings.CutSuffix(p, "*")
			if name == p || open && strings.HasPrefix(name, prefix) {
				return r.what, true
			}
		}
	}
	return "", false
}

// notKernels are names that are no kernels, those that end in "*" by how they
// begin. Sources: rocprofiler bin/tblextr.py (barriers), HCC's
// getHcCommandKindString (unknown commands, old copies), rocprofiler-sdk
// name_info of its buffer-tracing kinds and operations (domains, copies,
// allocations), hip_runtime_api.h, hsa.h, roctx.h and rccl.h (functions).
var notKernels = []struct {
	what  string
	names []string
}{
	{"barriers and markers", strings.Split("<barrier packet>,barrier packet,Barrier packet,Barrier,Marker,hcCommandMarker,InternalMarker,roctx*", ",")},
	{"unknown commands", []string{"Unknown command type", "hcCommandInvalid"}},
	{"copies", strings.Fields(`
		CopyHostToDevice* CopyDeviceToHost* CopyDeviceToDevice* CopyHostToHost* hcMemcpy* MEMORY_COPY_*
		HostToDevice DeviceToHost DeviceToDevice HostToHost HOST_TO_DEVICE DEVICE_TO_HOST DEVICE_TO_DEVICE HOST_TO_HOST`)},
	{"allocations", strings.Fields("MEMORY_ALLOCATION_* SCRATCH_MEMORY_*")},
	{"domains", strings.Fields(`
		KERNEL_DISPATCH MEMORY_COPY MEMORY_ALLOCATION SCRATCH_MEMORY HIP_API HIP_RUNTIME_API* HIP_COMPILER_API* HSA_API HSA_CORE_API*
		HSA_AMD_EXT_API* HSA_IMAGE_EXT_API* HSA_FINALIZE_EXT_API* MARKER_API MARKER_CORE_API* MARKER_CONTROL_API* MARKER_NAME_API*
		MARKER_CORE_RANGE_API* RCCL_API* ROCDECODE_API* ROCJPEG_API* OMPT*`)},
	{"API calls", strings.Fields(`
		hsa_* __hipRegister* __hipUnregister* __hipPush* __hipPop* hipArray* hipBind* hipChooseDevice* hipConfigureCall hipCreate*
		hipCtx* hipDestroy* hipDevice* hipDriver* hipDrv* hipEvent* hipExt* hipFree* hipFunc* hipGet* hipGL* hipGraph* hipHcc* hipHost* hipImport*
		hipInit hipIpc* hipKernelName* hipLaunch* hipLibrary* hipLink* hipMalloc* hipMem* hipMipmapped* hipModule* hipOccupancy*
		hipPeek* hipPointer* hipPop* hipProfiler* hipPush* hipRuntime* hipSet* hipSignal* hipStream* hipTex* hipThread* hipUnbind* hipUser* hipWait*
		ncclAllGather ncclAllReduce ncclAllReduceWithBias ncclAllToAll ncclAllToAllv ncclBcast ncclBroadcast ncclComm* ncclGather
		ncclGet* ncclGroup* ncclMemAlloc ncclMemFree ncclRecv ncclReduce ncclReduceScatter ncclScatter ncclSend rocDec* rocJpeg*`)},
}

// Others counts the rows of a table of kernels that are no kernels, by what
// NotKernel says of them.
type Others map[string]OtherSum

// OtherSum is a number of rows, of the calls that they stand for, and the time
// of those.
type OtherSum struct{ Rows, Calls, TotalNs int64 }

// Add counts a row that stands for so many calls.
func (o Others) Add(what string, calls, ns int64) {
	s := o[what]
	o[what] = OtherSum{s.Rows + 1, s.Calls + calls, s.TotalNs + max(ns, 0)}
}

// Join adds the rows of another part of the table.
func (o Others) Join(more Others) {
	for what, m := range more {
		s := o[what]
		o[what] = OtherSum{s.Rows + m.Rows, s.Calls + m.Calls, s.TotalNs + m.TotalNs}
	}
}

// Rows is how many rows there are of all kinds.
func (o Others) Rows() int {
	n := int64(0)
	for _, s := range o {
		n += s.Rows
	}
	return int(n)
}

// Notes says what was not taken for kernels. Nothing is lost by it: it is a
// warning only where a profiler mixed calls with kernels.
func (o Others) Notes(file string) []Note {
	var out []Note
	for _, what := range slices.Sorted(maps.Keys(o)) {
		s := o[what]
		level := Info
		if s.TotalNs > 0 {
			level = Warning
		}
		out = append(out, Note{Level: level, File: file, Text: fmt.Sprintf(
			"%s are not kernels and are left out: %s, %d ns", what, Many(s.Calls, "call", "calls"), s.TotalNs)})
	}
	return out
}
