"""Eight-bit floats: products of scaled float8 matrices.

float8_e4m3fn has four significant binary digits, ends at 448 and fades away below 0.002. Gradients of 1e-6 would all be 0 in
it. So each matrix is divided by a scale first, and the product multiplied by both scales. (Micikevicius et al. 2022, "FP8
formats for deep learning", section 3.)

    x = torch.tensor([[1.02, -8.96], [0.1, 4.1]])
    scale = scale_of(x)                # 8.96 / 448 = 0.02
    q = to_fp8(x, scale)               # [[52, -448], [5, 208]]: float8 has neither 51 nor 205
    scaled_matmul(q, q, scale, scale, torch.float32)    # [[0.1856, -46.5920], [0.5200, 16.4096]]

- `scale_of` gives the largest absolute value / 448, in float32.
- `to_fp8` gives x / scale in torch.float8_e4m3fn, rounded by `.to`.
- `scaled_matmul` gives scale_a * scale_b * (a @ b), in dtype. Products are added up in float32.
- A scale may also be one for each row of a, (rows, 1), or for each column of b, (1, columns).

Fine print:
- What is larger than 448 scales, as where the scale was measured a step ago, becomes 448 or -448; clamp before you cast, for
  some versions of PyTorch make NaN of it.
- The scale of zeros is above 0, such as 1.
- float16 and bfloat16 are divided in float32: 1e-6 / 448 is 0 in float16.
- scaled_matmul rounds once, at the end.
- Arguments stay as they are.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def scale_of(x: Float[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """The scale that brings the largest absolute value of x to 448, in float32."""
    raise NotImplementedError


def to_fp8(x: Float[Tensor, "*shape"], scale: Tensor) -> Tensor:
    """x / scale in torch.float8_e4m3fn."""
    raise NotImplementedError


def scaled_matmul(
    a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, dtype: torch.dtype = torch.bfloat16
) -> Float[Tensor, "rows columns"]:
    """The product of a, (rows, inner), and b, (inner, columns), both in float8, times both scales, in dtype."""
    raise NotImplementedError
