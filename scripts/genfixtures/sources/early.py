import triton
import triton.language as tl


@triton.jit
def scaled_relu_rows(x_ptr, y_ptr, rows, COLS: tl.constexpr, BLOCK: tl.constexpr):
    """One wave for each row. The grid is rounded up: programs past `rows` have no work."""
    row = tl.program_id(0)
    if row >= rows:
        return
    offs = tl.arange(0, BLOCK)
    base = row * COLS
    for start in range(0, COLS, BLOCK):
        x = tl.load(x_ptr + base + start + offs)
        y = tl.maximum(affine8(x), 0.0)
        tl.store(y_ptr + base + start + offs, y)


@triton.jit
def affine8(x):
    for _ in tl.static_range(8):
        x = x * 0.5 + 1.0
    return x
