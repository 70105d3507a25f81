"""An operator of your own: opaque to the compiler, with a fake kernel and a gradient.

Some work is not made of PyTorch's operations: a CUDA kernel, a C++ library, or a loop that the compiler would unroll step
by step, for minutes. The compiler calls a registered operator as it is. Register this loop, the decaying sum of
state-space models:

    def loop(x, decay):                             # both (..., time)
        state, states = torch.zeros_like(x[..., 0]), []
        for t in range(x.shape[-1]):
            state = decay[..., t] * state + x[..., t]
            states.append(state)
        return torch.stack(states, dim=-1)

    x, decay = torch.tensor([1., 2., 4.]), torch.tensor([0.5, 0.5, 0.25])
    scan(x, decay)                                  # [1., 2.5, 4.625]
    torch.compile(scan, fullgraph=True)(x, decay)   # the same; one node in the graph, not one for each step
    # The gradients, from that of the states, g, from the last step to the first (behind it are zeros):
    # for_x[t] = g[t] + decay[t + 1] * for_x[t + 1]      of scan(x, decay).sum(): [1.625, 1.25, 1.]
    # for_decay[t] = for_x[t] * states[t - 1]                                     [0., 1.25, 2.5]

The tutorial under `reading` shows the three parts:

- `torch.library.custom_op("kata::scan", mutates_args=())` makes an operator of a function; any name will do.
- `register_fake`: what comes back, without its numbers. The compiler asks this.
- `register_autograd`: the gradients of x and decay, and what to keep for them.

One graph serves many sizes, and `torch.library.opcheck` finds nothing wrong.

Fine print:
- x and decay may have any strides. The result is contiguous, and the fake kernel's is too; so on "meta", where no numbers are.
- float64 stays float64. Batch or time may be 0. The inputs stay as they are.
- Second-order gradients: let backward consist of what autograd can derive, scan itself for one.
- Backward has as many operations for any time: for_x is a scan as well, of what is flipped.
- What backward needs is kept by `ctx.save_for_backward`: it raises RuntimeError where that was changed in place.
- Shapes that differ raise ValueError, on "meta" too.
"""

import torch
from torch import Tensor


def scan(x: Tensor, decay: Tensor) -> Tensor:  # plain types: custom_op reads them
    """The decaying sum of x along the last dimension."""
    raise NotImplementedError
