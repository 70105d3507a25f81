"""An embedding in a quarter of the memory.

In a small model the table of embeddings can be the largest part, and of it a few rows are read in each call. Keep it in int8,
each row with a scale and an offset of its own, and widen only the rows that are read.

    scale = (largest of the row - smallest) / 255
    q = round((row - smallest) / scale) - 128            # from -128 to 127
    row again = (q + 128) * scale + smallest

    table = nn.Embedding(2, 3)               # say that its rows are [0, 1, 2.55] and [-4, -4, 98]
    small = Int8Embedding(table)             # scales 0.01 and 0.4
    small(torch.tensor([0, 1]))              # [[0, 1, 2.55], [-4, -4, 98]]

- indices may have any shape; what comes back is float32.
- Each number is off by half its row's scale at most.
- q, in int8, scale and smallest are buffers, saved with the state dict; there are no parameters, and nothing of float32 is as
  large as the table.
- A call widens the rows that it reads alone.

Fine print:
- The rows of a table may all be alike, and a row be one number throughout: it comes back.
- float16 and bfloat16 tables are quantized in float32.
- The table stays as it is, and no result has a graph.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn


class Int8Embedding(nn.Module):
    """What an nn.Embedding gives, from a table in int8."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, indices: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape features"]:
        raise NotImplementedError
