"""Activation checkpointing: compute twice, and keep nothing.

Training keeps the activations of every layer until backward needs them: most of the memory of a deep network.
`checkpoint(fn, *args)` gives fn(*args), but keeps nothing of what fn computed on the way. Backward runs fn once more, and
takes what it needs from there.

    block = nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Dropout(0.1), nn.Linear(512, 64))
    y = checkpoint(block, x)        # as block(x), but the tensors of size 512 are gone
    y.sum().backward()              # block runs again; the gradients are those of block(x)

- Result and gradients are those of fn(*args): for args that require one, for what these were computed from, and for
  the parameters that fn uses.
- fn runs once in forward, and once in backward.
- The second run draws the same random numbers as the first, so that dropout has the same mask.
- Without torch.utils.checkpoint.

Fine print:
- Parameters get their gradients where no arg requires one, too. Where all is frozen, what comes after trains all the same.
- args may hold values such as None, 3 or "gelu", integer tensors, and a tensor twice. Neither the values of tensors nor
  their `requires_grad` change, and one that fn does not use gets no gradient.
- Under `torch.no_grad()` fn runs once, and the result requires no gradient.
- Until backward nothing is held but the args themselves (not copies), the result and 12 kB.
- PyTorch's random stream goes on after forward as after fn(*args); backward leaves it as it was.
"""

from collections.abc import Callable

from torch import Tensor


def checkpoint(fn: Callable[..., Tensor], *args: object) -> Tensor:
    """fn(*args), one tensor, whose activations are computed again in backward; all on the CPU."""
    raise NotImplementedError
