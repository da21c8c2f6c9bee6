package trace

import "testing"

func TestNotKernel(t *testing.T) {
	for name, want := range map[string]string{
		"hipMemcpy": "API calls", "hsa_queue_create": "API calls", "__hipPushCallConfiguration": "API calls", "ncclAllReduce": "API calls",
		"CopyDeviceToHost": "copies", "MEMORY_COPY_HOST_TO_DEVICE": "copies", "hcMemcpyHostToDevice": "copies",
		`"<barrier packet>"`: "barriers and markers", "<barrier packet>": "barriers and markers", "hcCommandMarker": "barriers and markers",
		"Unknown command type": "unknown commands", "KERNEL_DISPATCH": "domains", "HIP_RUNTIME_API": "domains",
		// Kernels.
		"hipMemcpyLike(float*)": "", "hip_gemm": "", "hipcub_scan": "", "hipMemsetKernel.kd": "", "ncclDevKernel_AllReduce_Sum_f32": "",
		"__amd_rocclr_copyBuffer": "", "barrier_test": "", "_Z9hipMallocPf": "", "copy": "", "": "",
	} {
		if got, ok := NotKernel(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", name, got, ok, want)
		}
	}
}
