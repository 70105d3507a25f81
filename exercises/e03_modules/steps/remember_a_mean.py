"""Something to remember, not to learn: `register_buffer`.

A network wants its inputs around 0. Write a module that subtracts a mean, one number for each column. The
mean is given when the module is made; it is saved with the weights, and training leaves it alone.

    center = Center(torch.tensor([1.0, 10.0]))
    center(torch.tensor([[3.0, 10.0]]))     # tensor([[2., 0.]])

New here: `self.register_buffer("mean", mean)` in `__init__` keeps a tensor that is saved and not learned. Use
this, not `self.mean = mean`, which would not save it. From then on it is `self.mean`.
"""

from jaxtyping import Float
from torch import Tensor, nn


class Center(nn.Module):
    def __init__(self, mean: Float[Tensor, "features"]) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        raise NotImplementedError
