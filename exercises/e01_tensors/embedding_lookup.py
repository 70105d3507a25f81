"""Look up the vectors of tokens: integer-array indexing.

An embedding table has one row of numbers for each token of the vocabulary. Put the row of each id in the place of that
id, without `torch.nn.Embedding`, `embedding` and `embedding_bag` in any spelling.

    weight = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    embedding_lookup(weight, torch.tensor([[2, 0], [2, 1]]))
    # [[[2.0, 2.5], [0.0, 0.5]],
    #  [[2.0, 2.5], [1.0, 1.5]]]

- ids have any shape. The result has one dimension more, at the end.
- Tensors all the way, no NumPy and no Python numbers: training needs that (section e02).
- No Python loop over ids or rows.

Fine print:
- A single id without dimensions gives one row; no ids give an empty result.
- ids have any integer dtype, uint8 too, also where the table has more than 256 rows.
- The result has weight's dtype and device, and memory of its own.
- The table may be huge: no copy of it, and no one-hot matrix.
- An id that is negative, or not below the number of rows, raises IndexError: -1 is not "the last row".
- Floating and boolean ids raise TypeError.
"""

from jaxtyping import Int, Shaped
from torch import Tensor


def embedding_lookup(
    weight: Shaped[Tensor, "vocab dim"], ids: Int[Tensor, "*shape"]
) -> Shaped[Tensor, "*shape dim"]:
    """The row of `weight` that belongs to each id."""
    raise NotImplementedError
