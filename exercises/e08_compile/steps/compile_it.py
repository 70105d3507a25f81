"""Compile a function: `torch.compile`.

PyTorch can write down all that `fn` computes as one graph of operations, and then run the graph instead of
the Python code. Return the compiled version of `fn`: it takes and gives the same.

    fast = compile_it(lambda x: 2 * x + 1, backend="eager")
    fast(torch.tensor([1.0, 2.0]))      # tensor([3., 5.])

New here: `torch.compile(fn, fullgraph=True, backend=backend)`. With `fullgraph`, what does not fit in one
graph is an error. The backend runs the graph: "inductor" as fast code, "eager" as it is. It may be a
function, too: pass it on.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def compile_it(fn: Callable[[Tensor], Tensor], backend: str | Callable) -> Callable[[Tensor], Tensor]:
    raise NotImplementedError
