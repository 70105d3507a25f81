"""An embedding whose padding row stays 0.

Texts of a batch are filled up with the id of padding, so that all are of one length. Its vector should say nothing: 0 at
first, and 0 after training, though it is looked up more often than any other. Write the layer with a table of your own,
without `nn.Embedding`, `embedding` and `embedding_bag` in any spelling:

    layer = PaddedEmbedding(tokens=3, dim=2, padding=0)    # say that weight is [[0, 0], [1, 2], [3, 4]]
    y = layer(torch.tensor([[2, 1, 0], [1, 0, 0]]))
    # [[[3, 4], [1, 2], [0, 0]], [[1, 2], [0, 0], [0, 0]]]
    y.sum().backward()
    layer.weight.grad                                      # [[0, 0], [2, 2], [1, 1]]

- `weight`, (tokens, dim), is the one parameter. It begins normal, with standard deviation 1, but for the row of padding.
- Padding gives zeros, and its row gets a gradient of 0: so no optimizer moves it.
- No Python loop over ids.

Fine print:
- ids have any shape. padding may be negative: -1 is the last row. None is no padding; other numbers raise ValueError.
- Padding gives zeros also where a weight was loaded whose row is not 0, as checkpoints from elsewhere have it.
- A gradient of inf or NaN that comes back at padding leaves the row's at 0, and an inf or NaN in the row comes not out.
- The table may be huge: forward makes no tensor of its size.
- Cast or moved, the layer works in half precision and on another device, without a trip through the CPU.
"""

from jaxtyping import Float, Int64
from torch import Tensor, nn


class PaddedEmbedding(nn.Module):
    """A vector for each token, and zeros for padding."""

    def __init__(self, tokens: int, dim: int, padding: int | None = 0) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, ids: Int64[Tensor, "*shape"]) -> Float[Tensor, "*shape dim"]:
        raise NotImplementedError
