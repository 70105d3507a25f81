"""Group by: sums, counts and maxima of rows that belong together.

Orders of a customer, pixels of an object, messages to a node of a graph: ids says which segment each row of x belongs
to. `out[ids] += x` is no sum: of rows that share an id only one arrives. Write these, for segments 0 to `segments` - 1:

    x = torch.tensor([[1., 2.], [3., -4.], [5., -6.]])
    ids = torch.tensor([2, 0, 2])
    segment_sum(x, ids, 4)      # [[3, -4], [0, 0], [6, -4], [0, 0]]
    segment_count(ids, 4)       # [1, 0, 2, 0], int64
    segment_max(x, ids, 4)      # [[3, -4], [-inf, -inf], [5, 2], [-inf, -inf]]

- ids may repeat, and come in any order.
- A segment without rows has the sum 0, the count 0 and the maximum -inf, also behind the largest id.
- Tensors all the way: training needs that (section e02).
- No loop over rows or segments; all of PyTorch is allowed.

Fine print:
- x may have one dimension, or more than two: those behind the first stay as they are.
- No tensor of rows * segments numbers is made, as a one-hot matrix would be.
- Sums in half precision are computed in float32 and rounded once, at the end. All else keeps x's dtype.
- An id that is no segment raises IndexError, RuntimeError or ValueError: those of PyTorch will do.
- There may be no rows, and no segments.
- x and ids stay as they are. What lies on another device is worked on there, and no number of it goes to the CPU.
"""

from jaxtyping import Float, Int64
from torch import Tensor


def segment_sum(
    x: Float[Tensor, "rows *features"], ids: Int64[Tensor, "rows"], segments: int
) -> Float[Tensor, "segments *features"]:
    """The sum of the rows of each segment."""
    raise NotImplementedError


def segment_count(ids: Int64[Tensor, "rows"], segments: int) -> Int64[Tensor, "segments"]:
    """How many rows each segment has."""
    raise NotImplementedError


def segment_max(
    x: Float[Tensor, "rows *features"], ids: Int64[Tensor, "rows"], segments: int
) -> Float[Tensor, "segments *features"]:
    """The largest number of each segment, feature by feature."""
    raise NotImplementedError
