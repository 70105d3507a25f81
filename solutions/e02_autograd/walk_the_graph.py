from torch import Tensor
from torch.autograd.graph import Node


def operations(y: Tensor) -> list[str]:
    return [type(node).__name__ for node in _nodes(y) if not hasattr(node, "variable")]


def leaves(y: Tensor) -> list[Tensor]:
    if y.is_leaf:
        return [y] if y.requires_grad else []
    return [node.variable for node in _nodes(y) if hasattr(node, "variable")]


def _nodes(y: Tensor) -> list[Node]:
    """Every node once, depth first."""
    met: dict[Node, None] = {}  # a set that keeps its order
    todo: list[Node | None] = [y.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in met:  # an operand without a gradient has no node
            met[node] = None
            todo += [before for before, _ in reversed(node.next_functions)]  # the first is popped first
    return list(met)
