import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


def wrap_in_ddp(
    model: nn.Module, x: Float[Tensor, "rows features"], y: Float[Tensor, "rows outputs"]
) -> DistributedDataParallel:
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    loss = F.mse_loss(wrapped(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return wrapped
