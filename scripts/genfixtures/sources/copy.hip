// Copies n float4 values; a thread takes four of them, one workgroup's width apart.
#include <hip/hip_runtime.h>

__global__ __launch_bounds__(256) void copy_vec4(const float4 *src, float4 *dst, int n) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  if (i >= n) return;
  const float4 *s = src + i;
  float4 *d = dst + i;
  float4 v[4];
  for (int j = 0; j < 4; j++) v[j] = s[j * 256];
  for (int j = 0; j < 4; j++) d[j * 256] = v[j];
}
