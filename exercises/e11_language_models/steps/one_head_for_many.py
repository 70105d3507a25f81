"""One head for many: `expand`.

Several heads of attention may share one head of keys. Return the keys with a new dim 1 of size groups, in which
each head is seen groups times.

    one_head_for_many(torch.tensor([[[1.0]], [[2.0]]]), 3).shape
    # torch.Size([2, 3, 1, 1]); [0] is all 1, [1] is all 2

- Copy nothing: return a view of k.

New here: `x.expand(4, -1)` shows a dim of size 1 as if it had size 4, and copies nothing; -1 leaves a dim as it is.
"""

from jaxtyping import Float
from torch import Tensor


def one_head_for_many(
    k: Float[Tensor, "heads time dim"], groups: int
) -> Float[Tensor, "heads groups time dim"]:
    raise NotImplementedError
