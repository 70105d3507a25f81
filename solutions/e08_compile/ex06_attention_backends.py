"""Attention without the matrix: `scaled_dot_product_attention` in place of the written-out formula.

A model computes its attention as it stands in the paper, and runs out of memory at 32,000 positions:

    def written_out(query, key, value, causal=False, scale=None):
        (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
        key, value = (x.repeat_interleave(heads // kv_heads, dim=2) for x in (key, value))
        scale = dim**-0.5 if scale is None else scale
        scores = scale * torch.einsum("bthd,bshd->bhts", query, key)              # time * keys numbers
        if causal:
            seen = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)
            scores = scores.masked_fill(~seen, -torch.inf)
        return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), value)

`torch.nn.functional.scaled_dot_product_attention` computes it in tiles, and never holds the matrix: if it is
asked in the right way, or it quietly falls back. `attention` returns what `written_out` does:

    value = torch.tensor([1.0, 3.0, 5.0]).view(1, 3, 1, 1)
    query, key = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)       # all keys fit equally well
    attention(query, key, value).flatten()                             # [3., 3., 3.]
    attention(query, key, value, causal=True).flatten()                # [1., 2., 3.]
    attention(query[:, 1:], key, value, causal=True).flatten()         # [2., 3.]: the last two positions
    attention(query[:, 2:], key, value, causal=True).flatten()         # [3.]: one new token, with a cache

Rules:
- Values and gradients, for query, key and value, are those of `written_out` up to rounding, in the dtype of
  query: float32, float64, bfloat16 or float16. Inputs are laid out (batch, time, heads, dim) and so is the
  result; they are not changed, may be on any device, and may be strided views, as slices of one projection,
  with the numbers of each head side by side.
- causal: the queries are the last `time` of `keys` positions, and each sees the keys up to its own.
- heads is a multiple of kv_heads: the first heads // kv_heads query heads share key head 0, and so on.
- Without causal, and with causal where time equals keys, no tensor of time * keys numbers is made on the CPU,
  neither forwards nor backwards: not even a mask. With causal and fewer queries than keys, a mask of that
  size may be made, without batch and heads.
- Which of PyTorch's kernels may run is the caller's to say: such settings are left as they were.
- batch, time and keys are at least 1, time is at most keys where causal is true, scale is positive.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def attention(
    query: Float[Tensor, "batch time heads dim"],
    key: Float[Tensor, "batch keys kv_heads dim"],
    value: Float[Tensor, "batch keys kv_heads dim"],
    causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "batch time heads dim"]:
    """Mix the values by how well their keys fit the queries.

    Args:
        query: what each position asks for.
        key: what each position offers; of the same dtype and device.
        value: what is mixed.
        causal: whether a query sees no key after its own position.
        scale: what scores are multiplied by, or None for 1 / sqrt(dim).

    Returns:
        The mixed values, one for each query and head.
    """
    time, keys = query.shape[1], key.shape[1]
    # is_causal aligns the first query with the first key; a single query, the last one, sees all keys
    aligned = causal and time == keys
    mask = None
    if causal and 1 < time < keys:
        mask = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)  # (time, keys)
    mixed = F.scaled_dot_product_attention(
        query.transpose(1, 2),  # (batch, heads, time, dim)
        key.transpose(1, 2),  # (batch, kv_heads, keys, dim)
        value.transpose(1, 2),
        attn_mask=mask,
        is_causal=aligned,
        scale=scale,
        enable_gqa=True,
    )
    return mixed.transpose(1, 2)  # (batch, time, heads, dim)
