// C = A * B^T for bf16 inputs and float results. A is M x K, B is N x K, both row major;
// C is column major, so that the four results of a lane adjoin and leave as one store.
// A workgroup of four waves makes a 64 x 64 tile of C in steps of 64 along K; a wave
// makes 32 x 32 of it. The next step's tiles are on their way while this one is computed.
#include <hip/hip_runtime.h>

typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
#define load_b128(r, at) __builtin_bit_cast(f32x4, __builtin_amdgcn_raw_buffer_load_b128(r, at, 0, 0))
constexpr int kTile = 64;
constexpr int kRowBytes = kTile * 2;
constexpr int kTileBytes = kTile * kRowBytes;
#define store_b128(v, r, at) __builtin_amdgcn_raw_buffer_store_b128(v, r, at, 0, 0)
// Eight rows of a tile fall on the same banks; the exclusive or spreads them.
__device__ int swizzle(int row, int byte) { return row * kRowBytes + (byte ^ ((row & 7) << 4)); }

extern "C" __global__ __launch_bounds__(256) void gemm_bf16_64x64x64(
    const char *a, const char *b, float *c, int m, int n, int k) {
  __shared__ char lds[2][2 * kTileBytes];
  const int tid = threadIdx.x;
  const int row = tid >> 3, byte = (tid & 7) << 4;
  const int m0 = blockIdx.x * kTile, n0 = blockIdx.y * kTile;
  const int put = swizzle(row, byte);

  int offA[2] = {((m0 + row) * k) * 2 + byte, ((m0 + row + 32) * k) * 2 + byte};
  int offB[2] = {((n0 + row) * k) * 2 + byte, ((n0 + row + 32) * k) * 2 + byte};
  auto bufA = __builtin_amdgcn_make_buffer_rsrc((void *)a, 0, -1, 0x27000);
  auto bufB = __builtin_amdgcn_make_buffer_rsrc((void *)b, 0, -1, 0x27000);

  f32x4 next[4];
  for (int i = 0; i < 2; i++) next[i] = load_b128(bufA, offA[i]);
  for (int i = 0; i < 2; i++) next[2 + i] = load_b128(bufB, offB[i]);

  const int lane = tid & 63, wm = (tid >> 6) & 1, wn = tid >> 7;
  const int frag = lane & 15;
  int getA = wm * 32 * kRowBytes + swizzle(frag, (lane >> 4) << 4);
  int getB = wn * 32 * kRowBytes + swizzle(frag, (lane >> 4) << 4);
  f32x4 acc[2][2] = {};

  char *tile = lds[0];
  for (int i = 0; i < 4; i++) *(f32x4 *)(tile + i * kTileBytes / 2 + put) = next[i];
  int steps = k / kTile - 1;
  __syncthreads();

  while (true) {
    for (int i = 0; steps && i < 2; i++) next[i] = load_b128(bufA, offA[i] += kRowBytes);
    for (int i = 0; steps && i < 2; i++) next[2 + i] = load_b128(bufB, offB[i] += kRowBytes);
    bf16x8 fa[2][2], fb[2][2];
    for (int h = 0; h < 2; h++)
      for (int i = 0; i < 2; i++) {
        fa[h][i] = *(bf16x8 *)(tile + (getA ^ (h * 64)) + i * 16 * kRowBytes);
        fb[h][i] = *(bf16x8 *)(tile + kTileBytes + (getB ^ (h * 64)) + i * 16 * kRowBytes);
      }
    for (int h = 0; h < 2; h++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          acc[i][j] = __builtin_amdgcn_mfma_f32_16x16x32_bf16(fa[h][i], fb[h][j], acc[i][j], 0, 0, 0);
    if (steps-- == 0) break;
    tile = tile == lds[0] ? lds[1] : lds[0];
    for (int i = 0; i < 4; i++) *(f32x4 *)(tile + i * kTileBytes / 2 + put) = next[i];
    __syncthreads();
  }

  auto bufC = __builtin_amdgcn_make_buffer_rsrc((void *)c, 0, -1, 0x27000);
  const int col = n0 + wn * 32 + frag, first = m0 + wm * 32 + (lane >> 4) * 4;
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 2; i++)
      store_b128(acc[i][j], bufC, ((col + j * 16) * m + first + i * 16) * 4);
}
