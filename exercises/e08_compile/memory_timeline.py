"""Where is the peak? Bytes alive in the forward pass, the backward pass and the step.

"CUDA out of memory", and nobody knows what fills the card. Tell for each phase of a block how many bytes were alive at
once, and how many at its end:

    model = nn.Sequential(nn.Linear(1000, 1000, bias=False), nn.ReLU(), nn.Linear(1000, 10, bias=False))
    x = torch.randn(250, 1000)                           # 1 MB
    with memory_timeline() as timeline:
        loss = model(x).square().mean()
        timeline.mark("forward")
        loss.backward()
        timeline.mark("backward")
    for phase in timeline.rows: print(phase)

    # Phase(name='forward', peak=2000000, live=1010004)    input and result of the ReLU; that stays
    # Phase(name='backward', peak=5040008, live=4040004)   the first weight's gradient, made of one of 1 MB
    # All numbers may be off by up to 1 kB.

    # What does it:
    # torch.utils._python_dispatch.TorchDispatchMode: in `with Mode():` its __torch_dispatch__(self, func, types, args=(),
    #     kwargs=None) runs in place of each operation, in backward too. It returns func(*args, **(kwargs or {})), a
    #     tensor or a tuple
    # x.untyped_storage(): the memory of a tensor, one object for all its views, with nbytes() and _cdata, its address
    # weakref.finalize(storage, fn, *args): calls fn(*args) as soon as nobody holds the memory

- Memory counts from the operation that makes it until nobody holds it: no name, view or graph of autograd.
- It counts once: views and operations in place add nothing; the last slice keeps all.
- Memory from before the block (parameters, inputs) never counts, though operations in place return it.
- mark(name) adds a row. peak: most bytes alive at once since the last mark, those alive there included. live: those alive
  now.

Fine print:
- All bytes of the memory count, also those that its first tensor leaves out.
- `torch.tensor(…)` makes memory, too, and hands it to `aten.lift_fresh`, which has it as argument and as result.
- Nothing stays alive because of the timeline, also no memory from before the block.
- An error in the block reaches the caller, the rows so far are there, and nothing is followed behind the block.
- Each block has numbers of its own: what is freed later changes neither them nor those of another block.
- Results and random numbers are those without the timeline.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass


@dataclass
class Phase:
    """A part of the block: the most bytes alive at once in it, and those alive at its end."""

    name: str
    peak: int
    live: int


class Timeline:
    """What has been seen of a block. `rows` holds a Phase for each mark, in their order."""

    rows: list[Phase]

    def mark(self, name: str) -> None:
        """End a phase of the block here, and give it this name."""
        raise NotImplementedError


def memory_timeline() -> AbstractContextManager[Timeline]:
    """Follow the memory that is made while a `with` block runs, whose target is a new Timeline."""
    raise NotImplementedError
