"""Regional compilation: one block is compiled, and serves every layer.

A model of 48 equal blocks, compiled as a whole, is one graph of 48 copies: minutes go by before the first step. Compiled
block by block it is one small graph, which all of them use, as their weights are inputs of the graph. What lies between the
blocks is fast enough as it is. Compile the blocks of a model in place:

    graphs = []
    def backend(graph, inputs):              # the simplest backend: it runs the graph as it is
        graphs.append(graph)
        return graph.forward

    model = nn.Sequential(nn.Linear(3, 4), Block(4), Block(4), Block(4))
    compile_blocks(model, Block, backend)    # 3: how many were compiled
    model(torch.ones(2, 3))
    len(graphs)                              # 1, without the first Linear
    "1.linear.weight" in model.state_dict()  # True, as before

- The blocks are all modules of class `kind`, wherever they are in the model.
- Blocks that are alike share one graph. Nothing else is compiled.
- The names in the state_dict stay: a checkpoint of before can be loaded.

Fine print:
- Blocks share a graph where their inputs have the same shape, dtype and requires_grad.
- Blocks of a subclass of `kind` are meant as well.
- Modules and parameters stay the same objects: an optimizer made before goes on.
- A block that is used twice counts once.
- Where there is no such block, ValueError is raised.
- Blocks are compiled with the backend that is given.
"""

from collections.abc import Callable
from typing import Any

from torch import nn


def compile_blocks(
    model: nn.Module, kind: type[nn.Module], backend: str | Callable[..., Any] = "inductor"
) -> int:
    """Compile each module of class `kind` in place; return how many there are."""
    raise NotImplementedError
