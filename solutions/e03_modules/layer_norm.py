import torch
from jaxtyping import Float
from torch import Tensor


def layer_norm(
    x: Float[Tensor, "*sizes"],
    shape: tuple[int, ...],
    weight: Float[Tensor, "*shape"] | None = None,
    bias: Float[Tensor, "*shape"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "*sizes"]:
    ends = {"x": x.shape[x.dim() - len(shape) :]}
    ends |= {name: t.shape for name, t in (("weight", weight), ("bias", bias)) if t is not None}
    for name, end in ends.items():
        if end != torch.Size(shape):
            raise ValueError(f"{name} ends in {tuple(end)}, not {shape}")
    exact = x if x.dtype == torch.float64 else x.float()
    dims = tuple(range(-len(shape), 0))
    centred = exact - exact.mean(dims, keepdim=True)  # (*sizes)
    y = centred * (centred.square().mean(dims, keepdim=True) + eps).rsqrt()
    if weight is not None:
        y = y * weight
    if bias is not None:
        y = y + bias
    return y.to(x.dtype)
