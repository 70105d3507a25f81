"""Online softmax: attention tile by tile, without the matrix of scores.

FlashAttention goes through the keys in tiles, and keeps for each query the largest score so far, the sum of
exp(score - largest), and the sum of the values with these weights. Where a tile has a larger score, both sums are scaled to
it first. (Milakov and Gimelshein 2018; Dao et al. 2022, algorithm 1.)

    q, k = torch.ones(1, 4), torch.tensor([[0.0], [0.5], [1.0], [0.0], [0.5]]).expand(5, 4)
    v = torch.tensor([[1.0], [2.0], [4.0], [3.0], [5.0]])
    attention(q, k, v, tile=2)    # [[3.5468]]: the scores are 0, 1 | 2, 0 | 1
    attention(q, k, v, tile=2, keep=torch.tensor([True, True, False, True, True]))    # [[3.0966]]

- Scores are q @ kᵀ / sqrt(dim). A tile is `tile` keys, and the last one what is left.
- Without gradients, scores of few tiles are held at a time, never of all keys.
- Neither scores of 1e4 nor those of -1e4 do harm.
- Gradients flow to q, k and v.
- `scaled_dot_product_attention` is not used.

Fine print:
- Where `keep` is False a key is hidden. All keys of a tile may be; each query sees one key at least.
- Any number of dimensions may stand before the last two, or none.
- float16 and bfloat16 are computed in float32, scores too, and rounded once, at the end. float64 stays float64.
- The arguments stay as they are. On another device nothing is copied to or from the CPU.
"""

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
    """softmax(q @ kᵀ / sqrt(dim)) @ v, with the scores of `tile` keys at a time."""
    raise NotImplementedError
