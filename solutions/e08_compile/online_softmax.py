import torch
from jaxtyping import Bool, Float
from torch import Tensor


def attention(
    q: Float[Tensor, "*batch queries dim"],
    k: Float[Tensor, "*batch keys dim"],
    v: Float[Tensor, "*batch keys width"],
    tile: int,
    *,
    keep: Bool[Tensor, "*batch keys"] | None = None,
) -> Float[Tensor, "*batch queries width"]:
    exact = torch.promote_types(q.dtype, torch.float32)
    scaled = q.to(exact) * q.shape[-1] ** -0.5  # (*batch, queries, dim)
    largest = scaled.new_full((*q.shape[:-1], 1), -torch.inf)  # (*batch, queries, 1)
    total = torch.zeros_like(largest)  # (*batch, queries, 1)
    result = scaled.new_zeros((*q.shape[:-1], v.shape[-1]))  # (*batch, queries, width)
    for start in range(0, k.shape[-2], tile):
        part = slice(start, start + tile)
        scores = scaled @ k[..., part, :].to(exact).mT  # (*batch, queries, tile)
        if keep is not None:
            scores = scores.masked_fill(~keep[..., None, part], -torch.inf)
        new = torch.maximum(largest, scores.detach().amax(-1, keepdim=True))  # cancels out: needs no gradient
        finite = new.masked_fill(new == -torch.inf, 0.0)  # no key was shown yet
        weights, kept = (scores - finite).exp(), (largest - finite).exp()
        total = total * kept + weights.sum(-1, keepdim=True)
        result = result * kept + weights @ v[..., part, :].to(exact)
        largest = new
    return (result / total).to(q.dtype)
