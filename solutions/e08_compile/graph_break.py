import torch
from jaxtyping import Float
from torch import Tensor


def bounded_residual(
    x: Float[Tensor, "*shape"], update: Float[Tensor, "*shape"], limit: float = 1.0
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, ""]]:
    rms = update.detach().float().square().mean().sqrt()  # (): stays a tensor
    factor = torch.where(rms > limit, limit / rms, 1.0)  # (): both are computed, one is taken
    usable = torch.where(rms.isfinite(), update, 0.0)  # (*shape): before the product, as 0 · NaN is NaN
    return x + usable * factor, rms


if __name__ == "__main__":
    fast = torch.compile(
        bounded_residual, fullgraph=True, backend="eager"
    )  # eager: captures, and generates no code
    print(fast(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -3.0]])))
