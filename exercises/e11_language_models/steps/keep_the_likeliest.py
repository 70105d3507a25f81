"""Keep the likeliest: top-k.

To draw no nonsense, only the k likeliest tokens are drawn from. Return the logits with -inf in all places but the k
largest of each row.

    keep_the_likeliest(torch.tensor([[1.0, 4.0, 2.0, 3.0]]), 2)
    # tensor([[-inf, 4., -inf, 3.]])

- No row has a number twice.

New here: `values[:, -1:]` is the last column, still as a column, so that it stands beside each row: of
`x.topk(k, dim=1).values` it is the smallest that stays.
"""

from jaxtyping import Float
from torch import Tensor


def keep_the_likeliest(logits: Float[Tensor, "batch vocab"], k: int) -> Float[Tensor, "batch vocab"]:
    raise NotImplementedError
