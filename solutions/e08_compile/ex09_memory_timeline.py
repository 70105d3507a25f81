"""Where is the peak? Bytes alive in the forward pass, the backward pass and the step.

"CUDA out of memory", and nobody knows what fills the card: the activations, the gradients, or what the
optimizer keeps. `memory_timeline` follows all memory that is made in a block, and says for each phase of the
block how many bytes were alive at once, and how many are left at its end:

    model = nn.Sequential(nn.Linear(1000, 1000, bias=False), nn.ReLU(), nn.Linear(1000, 10, bias=False))
    x = torch.randn(250, 1000)                           # 1 MB
    with memory_timeline() as timeline:
        loss = model(x).square().mean()
        timeline.mark("forward")
        loss.backward()
        timeline.mark("backward")
    for phase in timeline.rows: print(phase)

    Phase(name='forward', peak=2000000, live=1010004)    # input and result of the ReLU; that stays
    Phase(name='backward', peak=5040008, live=4040004)   # the first weight's gradient, made of one of 1 MB

This needs no GPU: count the memory that PyTorch's operations make, in Python, and notice when it is freed.

Rules:
- What counts is memory that operations in the block make, in the forward pass, in a backward pass, under
  no_grad, in an optimizer: from the operation that makes it until nobody holds it any more, neither a name
  nor autograd's graph nor a view of it.
- Memory counts once, however many tensors look at it, and with all its bytes. So an operation in place and a
  view (a slice, `expand`) add nothing, and the last slice of a large tensor keeps all of it alive.
- Memory from before the block (parameters, inputs) does not count, neither as a part of the sums nor where it
  is freed within the block, and its views do not. Gradients that are made in the block count.
- An operation may return several tensors, in a tuple or a list. All tensors are dense.
- mark(name) ends a phase, and begins the next. The ended one gets a row: `live` are the bytes alive at the
  mark; `peak` are the most bytes alive at once in the phase, at its begin or later, also those of earlier
  phases that are still alive. Names may repeat. What comes behind the last mark has no row.
- timeline.rows is complete after the block, also after one that raises, whose error reaches the caller.
  Whatever happens after the block changes nothing in it; `mark` is called within the block alone.
- Nothing stays alive because of the timeline, also no memory from before, and it changes neither results nor
  gradients nor random numbers. Blocks may follow each other; they are never within each other.
- Plain Python ints, right to within 1 kB: PyTorch makes a few scalars on the way; not every method sees them.
"""

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
        """End a phase of the block here, and give it this name."""
        self.rows.append(Phase(name, self._peak, self._live))
        self._peak = self._live

    def _made(self, size: int) -> None:
        self._live += size
        self._peak = max(self._peak, self._live)

    def _freed(self, size: int) -> None:
        self._live -= size


@contextmanager
def memory_timeline() -> AbstractContextManager[Timeline]:
    """Follow the memory that is made while a `with` block runs, whose target is a new Timeline."""
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
