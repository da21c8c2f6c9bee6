// One wave of four does all the work between barriers; the others wait for it.
#include <hip/hip_runtime.h>

__global__ __launch_bounds__(256) void uneven_phases(float *out, float x, int n) {
  float v = x;
  for (int i = 0; i < n; i++) {
    if (threadIdx.x < 64)
      for (int j = 0; j < 40; j++) v = v * x + v;
    __syncthreads();
  }
  out[threadIdx.x] = v;
}
