"""An operator of your own: opaque to the compiler, with a fake kernel and a gradient.

Some work is not made of PyTorch's operations: a CUDA kernel, a C++ library, or a loop that the compiler
would unroll step by step, for minutes. Register it as an operator, and the compiler calls it as it is. All
that it has to know is what comes back (a *fake kernel*) and how to derive it. Here the recurrence of
state-space models, a sum that decays, written as a loop over time:

    h[t] = decay[t] · h[t - 1] + x[t]               with h[-1] = 0; in reverse from the end, with h[t + 1]

    x, decay = torch.tensor([1., 2., 4.]), torch.tensor([0.5, 0.5, 0.25])
    scan(x, decay)                                  # [1., 2.5, 4.625]
    scan(x, decay, reverse=True)                    # [3., 4., 4.]
    torch.compile(scan, fullgraph=True)(x, decay)   # the same, and one node in the graph

The gradient of x is a scan as well, in the other direction, with decays shifted by one. The gradient of
decay[t] is that of x[t] times the state that decay[t] was multiplied by.

Rules:
- `scan` is an operator: what `torch.library.custom_op` returns, or a `torch.ops.<namespace>.<name>`. It
  passes `torch.library.opcheck`: schema, autograd registration, fake kernel, compiling with dynamic shapes.
- For the compiler, and for any TorchDispatchMode, a call is one operation, however long the time. So is a
  scan in backward: its number of operations does not grow with time, either.
- x and decay have the same shape, (..., time), and dtype, float32 or float64; any number of dimensions before
  time, none too, any size, also 0, any strides. The result is like x, contiguous, and always in memory of its
  own, also for a single step. Inputs are not changed.
- Gradients are right for x and decay, together and each alone, and of second order too: backward consists of
  what autograd can derive. What it needs is kept by `ctx.save_for_backward`, so that backward raises a
  RuntimeError if decay has been changed in place before.
- It runs on "meta" tensors as well, which have shapes, but no numbers.
- The file may be imported again in the same process, as a notebook does, and the operators of both imports
  work. To register a name that is taken raises an error or, with `custom_op`, ends the first operator:
  calling that may crash. So take another namespace at each import, such as f"kata_{uuid.uuid4().hex}".

Bad input: ValueError where the shapes differ, or there is no dimension, on "meta" too.
"""

import torch
from torch import Tensor


def scan(x: Tensor, decay: Tensor, reverse: bool = False) -> Tensor:
    """The decaying sum of x along the last dimension.

    Args:
        x: what is added at each step, (..., time).
        decay: by what the state is multiplied before that, (..., time).
        reverse: from the last step to the first.

    Returns:
        The states, (..., time).

    Raises:
        ValueError: the shapes differ, or there is no dimension.
    """
    raise NotImplementedError
