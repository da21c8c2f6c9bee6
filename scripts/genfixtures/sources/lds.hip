// Reads the same LDS tile again and again, 16 bytes per lane: LDS is the limit.
#include <hip/hip_runtime.h>

__global__ __launch_bounds__(256) void lds_stream(float4 *out, int n) {
  __shared__ float4 tile[1024];
  float4 sum = {};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 8; j++)
      sum += tile[threadIdx.x + 64 * j];
  out[threadIdx.x] = sum;
}
