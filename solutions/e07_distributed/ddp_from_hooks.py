from typing import Any

import torch.distributed as dist
from torch import Tensor, nn


class DataParallelModel(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self._in_flight: list[tuple[Tensor, dist.Work]] = []
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)  # in place: optimizers go on holding the same tensors
        for p in module.parameters():  # each once, tied or not
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._send)

    def _send(self, p: Tensor) -> None:
        work = dist.all_reduce(p.grad, async_op=True)  # all ranks come here in the same order
        self._in_flight.append((p.grad, work))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def finish_gradients(self) -> None:
        for grad, work in self._in_flight:
            work.wait()
            grad /= dist.get_world_size()  # not before: the sum is still being made
        self._in_flight.clear()
