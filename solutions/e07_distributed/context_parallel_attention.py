import math

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


def ring_attention(
    q: Float[Tensor, "heads time features"],
    k: Float[Tensor, "heads time features"],
    v: Float[Tensor, "heads time values"],
    causal: bool = False,
) -> Float[Tensor, "heads time values"]:
    rank, ranks, time = dist.get_rank(), dist.get_world_size(), q.shape[-2]
    split = [k.shape[-1], v.shape[-1]]
    block = torch.cat([k, v], dim=-1).contiguous()
    places = torch.arange(time, device=q.device)
    top = q.new_full((*q.shape[:-1], 1), -math.inf)  # (heads, time, 1)
    norm, total = torch.zeros_like(top), 0.0
    for step in range(ranks):
        keys, values = block.split(split, dim=-1)
        scores = q @ keys.mT / math.sqrt(q.shape[-1])  # (heads, time, time)
        source = (rank - step) % ranks  # whose block this is
        if causal:
            later = source * time + places > rank * time + places[:, None]
            scores = scores.masked_fill(later, -math.inf)
        largest = torch.maximum(top, scores.amax(dim=-1, keepdim=True))  # finite: the own block came first
        fade, weights = (top - largest).exp(), (scores - largest).exp()
        norm = norm * fade + weights.sum(dim=-1, keepdim=True)
        total = total * fade + weights @ values
        top = largest
        if step < ranks - 1:
            work = dist.isend(block, (rank + 1) % ranks)
            coming = torch.empty_like(block)
            dist.recv(coming, (rank - 1) % ranks)
            work.wait()
            block = coming
    return total / norm
