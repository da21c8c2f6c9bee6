// D = A * B for bf16 tiles of 16 x 16, staged through LDS; one tile of D for each wave.
#include <hip/hip_runtime.h>

typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

__global__ __launch_bounds__(128) void wmma_tile(const uint4 *a, const uint4 *b, float *d, int steps) {
  __shared__ char lds[128 * 32];
  const int tid = threadIdx.x;
  const int at = blockIdx.x * 2048 + tid * 16;
  uint4 na = *(const uint4 *)((const char *)a + at);
  uint4 nb = *(const uint4 *)((const char *)b + at);
  const int get = (tid ^ 32) * 16;
  f32x8 acc = {};
  do {
    *(uint4 *)(lds + tid * 16) = na;
    *(uint4 *)(lds + 2048 + tid * 16) = nb;
    na = *(const uint4 *)((const char *)a + at + 2048 * steps);
    nb = *(const uint4 *)((const char *)b + at + 2048 * steps);
    __syncthreads();
    bf16x8 fa = *(bf16x8 *)(lds + get);
    bf16x8 fb = *(bf16x8 *)(lds + 2048 + get);
    acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(fa, fb, acc);
    __syncthreads();
  } while (--steps);
  *(f32x8 *)((char *)d + 2 * at) = acc;
}
