"""What is watched: the bytes of tensors, and how large the outputs of blocks are."""

import weakref
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode


class Meter(TorchDispatchMode):
    """Inside `with`, the bytes of all tensors that were made there: `live` now, `peak` at most so far."""

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = 0
        self.known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for given in args:
            if isinstance(given, Tensor):
                self._follow(given, 0)
        result = func(*args, **(kwargs or {}))
        for made in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(made, Tensor):
                self._follow(made, made.untyped_storage().nbytes())
        self.peak = max(self.peak, self.live)
        return result

    def _follow(self, tensor: Tensor, size: int) -> None:
        storage = tensor.untyped_storage()
        if id(storage) not in self.known:
            self.known.add(id(storage))
            self.live += size
            weakref.finalize(storage, self._forget, id(storage), size)

    def _forget(self, key: int, size: int) -> None:
        self.known.discard(key)
        self.live -= size

    def told(self) -> str:
        """The most so far, and what is there now."""
        return f"{self.peak / 1000:7.0f} kB   {self.live / 1000:7.0f} kB"


class Activity:
    """The mean of |output| of each block of `model.blocks`, in its latest run."""

    def __init__(self, model: nn.Module) -> None:
        self.sizes: dict[int, float] = {}
        for number, block in enumerate(model.blocks):
            block.register_forward_hook(partial(self.note, number))

    def note(self, number: int, block: nn.Module, args: Any, output: Tensor) -> None:
        self.sizes[number] = output.detach().abs().mean().item()

    def report(self) -> list[float]:
        """The means, block by block."""
        return [size for _, size in sorted(self.sizes.items())]
