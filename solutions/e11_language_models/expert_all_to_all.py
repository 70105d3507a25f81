from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor


@torch.no_grad()
def expert_parallel(
    x: Float[Tensor, "tokens dim"],
    chosen: Int[Tensor, "tokens k"],
    weights: Float[Tensor, "tokens k"],
    experts: Sequence[Callable[[Tensor], Tensor]],
) -> Float[Tensor, "tokens dim"]:
    ranks, local = dist.get_world_size(), len(experts)
    flat = chosen.flatten()  # (tokens * k)
    order = flat.argsort()  # by expert, and so by rank
    counts = flat.bincount(minlength=ranks * local)  # (ranks * local)
    coming = torch.empty_like(counts)  # (ranks * local): for each rank, the rows for each expert here
    dist.all_to_all_single(coming, counts)
    out, back = (c.view(ranks, local).sum(1).tolist() for c in (counts, coming))
    rows = _exchange(x[order // chosen.shape[1]], out, back)  # (rows that come, dim)
    owner = torch.arange(local).repeat(ranks).repeat_interleave(coming)  # (rows that come)
    results = torch.empty_like(rows)
    for number, expert in enumerate(experts):
        mine = owner == number
        if mine.any():
            results[mine] = expert(rows[mine])
    terms = torch.empty_like(x[order // chosen.shape[1]])  # (tokens * k, dim)
    terms[order] = _exchange(results, back, out)
    return (terms.unflatten(0, chosen.shape) * weights.unsqueeze(-1)).sum(1).to(x.dtype)


def _exchange(rows: Tensor, sent: list[int], received: list[int]) -> Tensor:
    found = rows.new_empty(sum(received), rows.shape[1])
    dist.all_to_all_single(found, rows.contiguous(), received, sent)
    return found
