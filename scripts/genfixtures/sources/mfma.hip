// Multiplies the same fragments over and over: nothing but the matrix pipe works.
#include <hip/hip_runtime.h>

__global__ __launch_bounds__(256) void mfma_peak(const bf16x8 *a, const bf16x8 *b, f32x16 *out, int n) {
  const bf16x8 x = a[threadIdx.x], y = b[threadIdx.x];
  f32x16 acc[2] = {};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 8; j++)
      acc[j % 2] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(x, y, acc[j % 2], 0, 0, 0);
  out[threadIdx.x] = acc[0] + acc[1];
}
