"""Activation checkpointing: compute twice, and keep nothing.

Training keeps the activations of every layer until backward needs them. In a deep network that is most of
the memory. `checkpoint(fn, *args)` gives fn(*args), but keeps nothing of what fn computed on the way. When
backward arrives, it runs fn once more and takes what is needed from there:

    block = nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Dropout(0.1), nn.Linear(512, 64))
    y = checkpoint(block, x)        # as block(x), but the tensors of size 512 are gone
    y.sum().backward()              # block runs again; the gradients are those of block(x)

Rules, without torch.utils.checkpoint:
- The result, and the gradients that `backward()` gives, are those of fn(*args): for the args (None for one
  that fn does not use), for whatever they were computed from, and for the parameters that fn uses, even if no
  arg requires a gradient. Where these are frozen too, what comes after trains all the same. As ever,
  gradients are added to `.grad`, once. (Gradients of second order, and a second backward through one result,
  do not matter.)
- fn runs once in forward, and once more in backward; if backward never comes, it does not. With gradients
  switched off (`torch.no_grad()`), fn runs once, and the result requires none.
- Between forward and backward nothing is held but the args themselves (not copies of them), the result, and
  up to 12 kB for everything else, such as the state of a random generator.
- fn may draw from PyTorch's global CPU generator, as dropout does. The result, and the generator's state
  after forward, are those of plain fn. The second run draws the same numbers as the first, whatever was
  drawn in between. backward leaves the generator as it was before backward, also where fn raises an error
  there.
- args are passed on to fn in order: tensors of any dtype, with a gradient or without, perhaps one of them
  twice, and values such as None, 3 or "gelu". Neither their values nor their `requires_grad` change.
- fn returns one new tensor and changes no arg. It may be checkpointed several times in one network.
"""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor


def checkpoint(fn: Callable[..., Tensor], *args: object) -> Tensor:
    """fn(*args), whose activations are computed again in backward instead of being kept.

    Args:
        fn: a module or any function that returns one tensor; all on the CPU, outside of autocast.
        args: what fn is called with.

    Returns:
        The tensor that fn(*args) gives, through which backward can go once.
    """
    if not torch.is_grad_enabled():
        return fn(*args)
    state = torch.get_rng_state()
    saved: list[Tensor] = []  # what fn saves for backward, in order: empty until backward asks
    places = itertools.count()

    def recompute() -> None:
        again = torch.autograd.graph.saved_tensors_hooks(lambda x: saved.append(x.detach()), lambda _: None)
        with torch.random.fork_rng(devices=[]), torch.enable_grad(), again:
            torch.set_rng_state(state)
            fn(*args)  # the graph of this run is dropped: only what it saved is of use

    def unpack(place: int) -> Tensor:
        if not saved:
            recompute()
        return saved[place]

    # Both runs save the same tensors in the same order, so a number is enough to find one again.
    with torch.autograd.graph.saved_tensors_hooks(lambda _: next(places), unpack):
        return fn(*args)
