"""Walk the graph: which operations made this, and from which leaves?

When a parameter gets no gradient, the graph tells why: its leaf is not in it. `y.grad_fn` is the node of the operation
that made y, and `next_functions` of a node are those of its operands. Where an operand is a leaf that requires a
gradient, its node is an `AccumulateGrad`, whose `variable` is that leaf.

    w, b = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    h = w * 3.0 + b
    y = h.tanh() * h - w.exp()
    operations(y)
    # ["SubBackward0", "MulBackward0", "TanhBackward0", "AddBackward0", "MulBackward0", "ExpBackward0"]
    leaves(y)         # [w, b]: the tensors themselves

- Names are those of the nodes' types. `AccumulateGrad` is no operation.
- In the order of a recursion: a node, then all behind its first operand, then behind its second.
- Each node and each leaf counts once, where it is met first. The work does not grow with the number of ways to it.

Fine print:
- Where y is a leaf that requires a gradient, it is its own only leaf. Without a graph there is nothing: two empty lists.
- Chains of 10 000 operations work, at Python's own recursion limit.
- Both only look: no `.grad` changes, and backward works afterwards.
"""

from torch import Tensor


def operations(y: Tensor) -> list[str]:
    """The names of all nodes that backward from y goes through, from y on."""
    raise NotImplementedError


def leaves(y: Tensor) -> list[Tensor]:
    """All leaves that backward from y gives a gradient."""
    raise NotImplementedError
