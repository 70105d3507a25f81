from collections.abc import Callable

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel


def ddp_step(
    model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, " rows"]],
    optimizer: torch.optim.Optimizer,
    inputs: Shaped[Tensor, "rows *features"],
    targets: Shaped[Tensor, "rows *labels"],
    max_norm: float | None = None,
) -> float:
    losses = loss_fn(model(inputs), targets)  # (rows,)
    total = torch.stack([losses.detach().sum(), losses.new_tensor(len(losses))])  # (2,)
    dist.all_reduce(total)  # sums of the losses and of the rows of all ranks
    loss, rows = total.tolist()
    optimizer.zero_grad()
    # DDP divides the sum of all ranks' gradients by their number, where the number of rows is wanted
    (losses.sum() * (dist.get_world_size() / rows)).backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # the same on every rank
    optimizer.step()
    return loss / rows
