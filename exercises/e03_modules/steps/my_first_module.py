"""A network of your own: `nn.Module`.

A network scores flowers: a linear layer to `hidden` numbers, a ReLU, a linear layer to `classes` scores.

    net = Net(features=4, hidden=8, classes=3)
    net(torch.zeros(5, 4)).shape      # torch.Size([5, 3])

- `__init__` makes the two layers, and keeps them as `self.first` and `self.second`.
- `forward` runs them on x.

New here: a class of `nn.Module` finds the layers that `__init__` puts on `self`, and `net(x)` calls
`forward(x)`. `x.relu()` turns negative numbers into 0.
"""

from jaxtyping import Float
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows classes"]:
        raise NotImplementedError
