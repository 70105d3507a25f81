"""The rule of broadcasting, on plain shapes.

A loss that is too small, a table where a row was meant: mostly two shapes that fit by accident. Write the rule by which
shapes fit, as PyTorch and NumPy have it:

    broadcast_shape([(8, 1, 6), (7, 1)])        # (8, 7, 6)
    broadcast_shape([(3,), (4, 1), ()])         # (4, 3)
    broadcast_shape([(3, 2), (3,)])             # ValueError: dimension -1 is 2 in one shape and 3 in another

- Shapes are compared from the right: the last dimension of each with the last of all others.
- A dimension that a shape lacks in front counts as one of size 1.
- A size of 1 fits every other; two others must be equal, or ValueError is raised (RuntimeError will do).
- The result has the other size, and as many dimensions as the longest shape.
- Without tensors, `torch.broadcast_shapes` or anything else that has the rule.

Fine print:
- A size of 0 counts like 5: beside 1 the result is 0, beside 3 it is an error.
- An empty list gives (), the shape of a number.
- The error's message has the dimension, counted from the right (-1 is the last), and the two sizes.
- Each shape is a tuple, a list or `torch.Size`; all stay as they are.
"""

from collections.abc import Sequence


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape of what comes out where tensors of these shapes meet."""
    raise NotImplementedError
