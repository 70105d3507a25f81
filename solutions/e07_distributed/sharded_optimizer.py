from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


class ShardedOptimizer:
    optimizer: torch.optim.Optimizer

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer],
    ) -> None:
        self.params = [p for p in params if p.requires_grad]
        self.world_size = dist.get_world_size()
        total = sum(p.numel() for p in self.params)
        self.size = -(-total // self.world_size)  # rounded up: the last parts may hold zeros
        self.start = dist.get_rank() * self.size
        self.part = self._mine().requires_grad_()  # (size,)
        self.optimizer = make_optimizer([self.part])

    def step(self) -> None:
        with torch.no_grad():
            self.part.copy_(self._mine())  # someone may have loaded other values
            gradients = (torch.zeros_like(p) if p.grad is None else p.grad for p in self.params)
            self.part.grad = torch.empty_like(self.part)
            dist.reduce_scatter(self.part.grad, list(self._vector(gradients).chunk(self.world_size)))
            self.part.grad /= self.world_size
        self.optimizer.step()
        with torch.no_grad():
            vector = self.part.new_empty(self.world_size * self.size)
            dist.all_gather(list(vector.chunk(self.world_size)), self.part.detach())
            used = vector[: sum(p.numel() for p in self.params)]
            for p, numbers in zip(self.params, used.split([p.numel() for p in self.params]), strict=True):
                p.copy_(numbers.view(p.shape))

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None

    def _vector(self, tensors: Iterable[Tensor]) -> Tensor:
        flat = torch.cat([t.flatten() for t in tensors])  # (total,)
        return nn.functional.pad(flat, (0, self.world_size * self.size - len(flat)))  # (world_size * size,)

    def _mine(self) -> Tensor:
        vector = self._vector(p.detach() for p in self.params)
        return vector[self.start : self.start + self.size].clone()  # (size,), without the rest of the memory
