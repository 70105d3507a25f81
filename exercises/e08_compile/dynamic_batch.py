"""One graph for batches of any size, from the first call on.

`torch.compile` takes the sizes of the first call for constants. At another size it compiles again, with a symbol for what
has changed: a server that has just started compiles twice, in front of a user. With `dynamic=True` it compiles once, but
takes every size for a symbol, and kernels are slower where the width is not known. Say which dimension will change.

    graphs = []
    def backend(graph, inputs):              # the simplest backend: it runs the graph as it is
        graphs.append(graph)
        return graph.forward

    double = any_batch(lambda x: 2 * x, backend)
    double(torch.ones(5, 3)), double(torch.ones(7, 3)), double(torch.ones(3, 3))
    len(graphs)                              # 1, for inputs of (s, 3)

- The first dimension of each tensor that is handed over is the batch.
- One graph serves all batches of two and more. All other sizes are constants in it.
- Results are those of fn, a function or a module.

Fine print:
- A batch of 1 may have another graph, and so may an empty one. It may come first.
- Keyword arguments are handed on, and tensors among them are batches as well.
- Numbers and tensors without dimensions are handed on.
- Where fn turns the batch's size into a plain number (a list of 5 for a batch of 5), the first call raises the compiler's error.
- fn is compiled with the backend that is given.
"""

from collections.abc import Callable
from typing import Any


def any_batch(fn: Callable[..., Any], backend: str | Callable[..., Any] = "inductor") -> Callable[..., Any]:
    """fn, compiled once for batches of all sizes."""
    raise NotImplementedError
