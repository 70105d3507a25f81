"""Look up the vectors of tokens: integer-array indexing.

An embedding table holds one row of numbers per token of the vocabulary. A lookup puts the row of each
id in the place of that id:

    weight = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    embedding_lookup(weight, torch.tensor([[2, 0], [2, 1]]))
    # [[[2.0, 2.5], [0.0, 0.5]],
    #  [[2.0, 2.5], [1.0, 1.5]]]

Rules, without `torch.nn.Embedding`, and without `embedding` and `embedding_bag` in any spelling:
- ids have any shape, 0-d and empty ones too. They are int64, int32, int16, int8 or also
  uint8, as byte-level tokenizers give them. The result has the shape of ids plus one dimension at the
  end, and the dtype and device of weight. weight and ids have any strides and are not changed.
- The result has memory of its own, also for a 0-d id: writing to it leaves weight alone.
- Gradients flow to weight. A row that is asked for several times gets the sum of its gradients.
- The table may be huge: no Python loop over ids or rows, no copy of weight, and no one-hot matrix.
  A row that nobody asks for has no influence, even if it holds inf or NaN.

Bad input: an id that is negative, or not below the number of rows, raises IndexError (-1 is no way to
say "the last row"). ids of a floating or boolean dtype raise TypeError, even if there are none of them.
"""

import torch
from jaxtyping import Int, Shaped
from torch import Tensor


def embedding_lookup(
    weight: Shaped[Tensor, "vocab dim"], ids: Int[Tensor, "*shape"]
) -> Shaped[Tensor, "*shape dim"]:
    """Take the row of `weight` that belongs to each id.

    Args:
        weight: the table, one row per token, (vocab, dim).
        ids: row numbers from 0 to vocab - 1, of any shape and integer dtype, on weight's device.

    Returns:
        The rows, (*shape, dim), same dtype and device as weight.

    Raises:
        IndexError: an id is negative or not below vocab.
        TypeError: ids are floating or boolean.
    """
    if ids.is_floating_point() or ids.dtype == torch.bool:
        raise TypeError(f"ids must be integers, not {ids.dtype}")
    vocab, dim = weight.shape
    flat = ids.reshape(-1).long()  # (n,); as int64 a uint8 index is no mask
    if len(flat) and (flat.min() < 0 or flat.max() >= vocab):
        raise IndexError(f"ids must lie in 0 … {vocab - 1}; got {int(flat.min())} … {int(flat.max())}")
    rows = weight[flat]  # (n, dim), a copy
    return rows.reshape(*ids.shape, dim)
