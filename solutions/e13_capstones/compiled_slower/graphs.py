"""A backend for torch.compile that counts what it is given."""

from collections.abc import Callable, Sequence

import torch


class Graphs:
    """Runs each graph as it is, and keeps in `operations` how many calls each of them has."""

    def __init__(self) -> None:
        self.operations: list[int] = []

    def __call__(self, graph: torch.fx.GraphModule, inputs: Sequence[object]) -> Callable[..., object]:
        self.operations.append(sum(node.op.startswith("call") for node in graph.graph.nodes))
        return graph.forward
