from typing import Any

from jaxtyping import Shaped
from torch import Tensor


def describe(x: Shaped[Tensor, "*sizes"]) -> dict[str, Any]:
    return {
        "shape": tuple(x.shape),
        "rank": x.ndim,
        "elements": x.numel(),
        "dtype": x.dtype,
        "device": x.device,
        "requires_grad": x.requires_grad,
        "contiguous": x.is_contiguous(),
        "bytes": x.numel() * x.element_size(),
        "storage_bytes": x.untyped_storage().nbytes(),
    }
