import torch
from jaxtyping import Bool, Float32, Int64, Shaped
from torch import Tensor


def model_inputs(
    token_ids: Shaped[Tensor, "*ids"], features: Shaped[Tensor, "*features"], mask: Shaped[Tensor, "*mask"]
) -> tuple[Int64[Tensor, "*ids"], Float32[Tensor, "*features"], Bool[Tensor, "*mask"]]:
    if token_ids.is_floating_point() or token_ids.dtype == torch.bool:
        raise TypeError(f"token ids are integers, not {token_ids.dtype}")
    return token_ids.to(torch.int64), features.to(torch.float32), mask.to(torch.bool)
