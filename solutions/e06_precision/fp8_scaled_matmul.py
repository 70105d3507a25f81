import torch
from jaxtyping import Float
from torch import Tensor

LARGEST = torch.finfo(torch.float8_e4m3fn).max  # 448


def scale_of(x: Float[Tensor, "*shape"]) -> Float[Tensor, ""]:
    scale = x.float().abs().amax() / LARGEST
    return torch.where(scale > 0, scale, 1.0)


def to_fp8(x: Float[Tensor, "*shape"], scale: Tensor) -> Tensor:
    return (x.float() / scale).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)


def scaled_matmul(
    a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, dtype: torch.dtype = torch.bfloat16
) -> Float[Tensor, "rows columns"]:
    product = a.float() @ b.float()  # (rows, columns)
    return (product * scale_a * scale_b).to(dtype)
