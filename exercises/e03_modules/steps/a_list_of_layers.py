"""A list of layers: `nn.ModuleList`.

A tower has `depth` linear layers, each from `features` to `features` numbers. They run one after another,
with a ReLU after each. Each layer has weights of its own: make a new one each time.

    tower = Tower(features=4, depth=3)
    tower(torch.zeros(5, 4)).shape          # torch.Size([5, 4])
    len(list(tower.parameters()))           # 6: three weights, three biases

New here: `self.layers = nn.ModuleList([layer, layer, ...])` is a list whose layers the module knows, so
`parameters()` finds them. In a plain list it does not. Go through it with `for`.
"""

from jaxtyping import Float
from torch import Tensor, nn


class Tower(nn.Module):
    def __init__(self, features: int, depth: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        raise NotImplementedError
