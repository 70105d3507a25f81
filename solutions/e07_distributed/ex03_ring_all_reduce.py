"""All-reduce by hand: the sum over all ranks, in messages between neighbours.

If one rank collected the tensors of all and sent the sum back, its line would carry everything. On a ring all
lines share the work. Each of N ranks cuts its tensor into N parts. In every step it sends one part to the
next rank and receives another from the one before. N - 1 times it adds what comes to its own numbers: each
part grows on its way, and has been on all ranks at the end. Another N - 1 times what comes is a finished sum,
to be kept and passed on.

    # rank 0 has x = tensor([1., 2., 3.]), rank 1 tensor([10., 20., 30.]), rank 2 tensor([100., 200., 300.])
    ring_all_reduce(x)  # x is now tensor([111., 222., 333.]) on all three
    # each rank has sent 4 messages of one number, all of them to the next rank

Rules:
- The caller has joined the ranks to the default process group (gloo). Every rank calls, with a tensor of the
  same shape and dtype (floating or integer), on the CPU, without a gradient.
- The sum is written into the tensor, in its dtype, and the result is None. The tensor may have any strides:
  if it is a column of a matrix, the column holds the sum, and the rest of the matrix is as it was.
- Afterwards all ranks have the same bits.
- The only communication is `dist.send` and `dist.recv` (or isend, irecv, batch_isend_irecv). A rank sends to
  rank + 1 and receives from rank - 1 only; the last rank's next is rank 0.
- A rank sends at most 2(N - 1) messages. None holds more numbers than one N-th of the tensor's, rounded up,
  and all are in the tensor's dtype. N need not divide this number, which may be smaller than N, or 0; a part
  without numbers may be sent or left out.
- A `send` can wait until the receiver receives. It must not come to all ranks waiting for each other.
- A rank that is alone sends nothing. Calls with other sizes may follow.
"""

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor


def ring_all_reduce(tensor: Shaped[Tensor, "*shape"]) -> None:
    """Replace the tensors of all ranks by their sum.

    Args:
        tensor: this rank's numbers; the sum over all ranks afterwards.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    flat = tensor.reshape(-1).contiguous()  # (numbers,), copied where strides leave gaps
    parts = flat.tensor_split(ranks)  # views; the first ones may be longer by one
    for step in range(2 * (ranks - 1)):
        outgoing = parts[(rank - step) % ranks]
        kept = parts[(rank - step - 1) % ranks]
        incoming = torch.empty_like(kept)
        sending = dist.isend(outgoing, (rank + 1) % ranks)  # all send first: none may wait for the other end
        dist.recv(incoming, (rank - 1) % ranks)
        sending.wait()
        if step < ranks - 1:
            kept += incoming
        else:
            kept.copy_(incoming)
    tensor.copy_(flat.view_as(tensor))
