import torch
from jaxtyping import BFloat16, Float32
from torch import Tensor


def stochastic_round(
    x: Float32[Tensor, "*shape"], generator: torch.Generator | None = None
) -> BFloat16[Tensor, "*shape"]:
    noise = torch.randint(0, 1 << 16, x.shape, generator=generator, device=x.device, dtype=torch.int32)
    bits = x.detach().view(torch.int32) + noise  # carries as often as the lower 16 say
    rounded = (bits & -(1 << 16)).view(torch.float32).bfloat16()
    return torch.where(x.isfinite(), rounded, x.bfloat16())
