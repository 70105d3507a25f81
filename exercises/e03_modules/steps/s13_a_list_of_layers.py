"""A list of layers: `nn.ModuleList`.

A tower has `depth` linear layers, each from `features` to `features` numbers, with weights of its own. Run
one after another, with a ReLU after each.

    tower = Tower(features=4, depth=3)
    tower(torch.zeros(5, 4)).shape          # torch.Size([5, 4])
    len(list(tower.parameters()))           # 6: three weights, three biases

New here: `self.layers = nn.ModuleList([layer, layer, ...])` is a list whose layers the module knows, trains
and saves. In a plain list it does not find them. Go through it with `for`.
"""

from jaxtyping import Float
from torch import Tensor, nn


class Tower(nn.Module):
    def __init__(self, features: int, depth: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        raise NotImplementedError
