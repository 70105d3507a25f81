"""All-reduce by hand: the sum over all ranks, in messages between neighbours.

Each of N ranks cuts its tensor into N parts (`tensor_split`). In every step it sends one part to the next rank
and receives another. N - 1 times it adds what comes to its own; then each part is complete on one rank. Another
N - 1 times finished sums come, to keep and pass on.

    # rank 0 has x = tensor([1., 2., 3.]), rank 1 tensor([10., 20., 30.]), rank 2 tensor([100., 200., 300.])
    ring_all_reduce(x)  # x is now tensor([111., 222., 333.]) on all three
    # rank 0 has sent part 0, then 2; then the sums 1 and 0

- The sum is written into x.
- Nothing but `dist.send` and `dist.recv` (or isend, irecv, batch_isend_irecv).
- A rank sends parts, to rank + 1, and receives from rank - 1; the last rank's next is rank 0.
- A `send` can wait until the receiver receives: it must not come to all ranks waiting for each other.

Fine print:
- A rank sends at most 2(N - 1) messages, none of more than an N-th of the numbers, rounded up, in x's dtype.
- There may be fewer numbers than ranks, or none; a rank that is alone sends nothing.
- x has any floating or integer dtype, in which the sum is made.
- x has any strides: if it is a column of a matrix, the column holds the sum, the rest stays as it was.
- Afterwards all ranks have the same bits. The result is None.
"""

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor


def ring_all_reduce(tensor: Shaped[Tensor, "*shape"]) -> None:
    """Replace the tensors, of the same shape on all ranks, by their sum."""
    raise NotImplementedError
