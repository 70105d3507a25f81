import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor


def ring_all_reduce(tensor: Shaped[Tensor, "*shape"]) -> None:
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
