#include <hip/hip_runtime.h>

// y = a * x + y
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i];
  const float w = y[i];
  y[i] = a * v + w;
}

extern "C" __global__ void scale(float *y, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * y[i];
}
