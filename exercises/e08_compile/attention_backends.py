"""Attention without the matrix: `scaled_dot_product_attention` in place of the written-out formula.

A model computes its attention as it stands in the paper, and runs out of memory at 32,000 positions:

    def written_out(query, key, value, causal=False, scale=None):
        (_, time, heads, dim), (_, keys, kv_heads, _) = query.shape, key.shape
        key, value = (x.repeat_interleave(heads // kv_heads, dim=2) for x in (key, value))
        scale = dim**-0.5 if scale is None else scale
        scores = scale * torch.einsum("bthd,bshd->bhts", query, key)    # the matrix: time * keys numbers a head
        if causal:
            seen = torch.ones(time, keys, dtype=torch.bool, device=query.device).tril(keys - time)
            scores = scores.masked_fill(~seen, -torch.inf)
        return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), value)

Return the same from `torch.nn.functional.scaled_dot_product_attention`, which works in tiles and never holds the matrix:

    value = torch.tensor([1.0, 3.0, 5.0]).view(1, 3, 1, 1)
    query, key = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)       # all keys fit equally well
    attention(query, key, value).flatten()                             # [3., 3., 3.]
    attention(query, key, value, causal=True).flatten()                # [1., 2., 3.]

- Inputs and result are (batch, time, heads, dim). PyTorch's function wants heads before time, and does not notice if they
  are exchanged.
- There may be fewer key heads than query heads: they are shared as above, where each is repeated in place.
- With causal (and time equal to keys) each position sees itself and those before it.
- No tensor of time * keys numbers is made, forwards or backwards: not even a mask.

Fine print:
- With causal and fewer queries than keys, as with a cache, the queries are the last positions, as above: `is_causal` takes
  them for the first. Here a mask of time * keys numbers may be made, without batch and heads.
- bfloat16, float16 and float64 come out as they went in, as precise as they are.
- Strided inputs, such as slices of one projection, and other devices; the inputs stay as they are.
- Which of PyTorch's kernels may run is the caller's choice: what is switched off does not run, and settings stay.
"""

from jaxtyping import Float
from torch import Tensor


def attention(
    query: Float[Tensor, "batch time heads dim"],
    key: Float[Tensor, "batch keys kv_heads dim"],
    value: Float[Tensor, "batch keys kv_heads dim"],
    causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "batch time heads dim"]:
    """Mix the values by how well their keys fit the queries; scale None stands for 1 / sqrt(dim)."""
    raise NotImplementedError
