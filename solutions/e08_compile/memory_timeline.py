import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass
class Phase:
    """A part of the block: the most bytes alive at once in it, and those alive at its end."""

    name: str
    peak: int
    live: int


class Timeline:
    """What has been seen of a block. `rows` holds a Phase for each mark, in their order."""

    rows: list[Phase]

    def __init__(self) -> None:
        self.rows = []
        self._live = self._peak = 0

    def mark(self, name: str) -> None:
        self.rows.append(Phase(name, self._peak, self._live))
        self._peak = self._live

    def _made(self, size: int) -> None:
        self._live += size
        self._peak = max(self._peak, self._live)

    def _freed(self, size: int) -> None:
        self._live -= size


@contextmanager
def memory_timeline() -> AbstractContextManager[Timeline]:
    timeline = Timeline()
    with _Follow(timeline):
        yield timeline


class _Follow(TorchDispatchMode):
    """Sees every operation below autograd, and with it all memory that there is."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self.timeline = timeline
        self.known: set[int] = set()  # addresses: a reference would keep the memory alive

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not torch.ops.aten.lift_fresh.default:  # torch.tensor(…) has just made its argument
            for storage in _storages((args, kwargs)):
                self._follow(storage, 0)  # was there before the operation, so before the block
        result = func(*args, **(kwargs or {}))
        for storage in _storages(result):
            self._follow(storage, storage.nbytes())
        return result

    def _follow(self, storage: torch.UntypedStorage, size: int) -> None:
        address = storage._cdata
        if address not in self.known:
            self.known.add(address)
            self.timeline._made(size)
            weakref.finalize(storage, self._forget, address, size)

    def _forget(self, address: int, size: int) -> None:
        self.known.discard(address)  # another one may be made at the same address
        self.timeline._freed(size)


def _storages(data: object) -> Iterator[torch.UntypedStorage]:
    return (leaf.untyped_storage() for leaf in tree_leaves(data) if isinstance(leaf, torch.Tensor))
