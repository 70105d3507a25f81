"""Two backwards through one graph: `retain_graph`.

From `y = torch.exp(x)` the code below wants two gradients for x: that of the sum of y, and that of the sum of
`y ** 2`. Both go back through the same exp. Run it as it is, read the error, then mend it.

    twice_through_one_graph(torch.tensor([0.0, 1.0]))
    # (tensor([1.0000, 2.7183]), tensor([ 2.0000, 14.7781]))

New here: backward throws away the graph that it went through, to free memory. `loss.backward(retain_graph=True)`
keeps it, for another backward.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def twice_through_one_graph(x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    x.requires_grad_()
    y = torch.exp(x)
    y.sum().backward()
    first = x.grad
    x.grad = None
    (y**2).sum().backward()
    return first, x.grad
