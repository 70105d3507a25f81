from collections.abc import Callable, Sequence
from contextlib import nullcontext

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel


def accumulated_step(
    model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, " rows"]],
    optimizer: torch.optim.Optimizer,
    pieces: Sequence[tuple[Shaped[Tensor, "rows *features"], Shaped[Tensor, "rows *labels"]]],
) -> float:
    optimizer.zero_grad()
    mine = torch.zeros(2, dtype=torch.float64)  # sum of losses, number of rows
    for number, (inputs, targets) in enumerate(pieces, start=1):
        is_last = number == len(pieces)
        # DDP decides in the forward whether the backward will synchronise: it belongs inside as well
        with nullcontext() if is_last else model.no_sync():
            losses = loss_fn(model(inputs), targets)  # (rows,)
            losses.sum().backward()
        mine += torch.tensor([losses.sum().item(), len(losses)], dtype=torch.float64)
    dist.all_reduce(mine)
    loss, rows = mine.tolist()
    for p in model.parameters():
        p.grad *= dist.get_world_size() / rows  # DDP has divided by the number of ranks
    optimizer.step()
    return loss / rows
