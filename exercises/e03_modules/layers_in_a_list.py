"""Layers in a list: a network that hides most of itself from the optimizer.

`ResidualNet` sends features through `depth` residual blocks, each with a scale of its own, and ends in several heads, one
for each quantity that is predicted:

    net = ResidualNet(features=4, depth=2, heads={"price": 1, "rooms": 6})
    y = net(torch.randn(8, 4))          # {"price": (8, 1), "rooms": (8, 6)}
    # block i:  x = x + scales[i] * relu(layers[i](x));   head:  y[name] = heads[name](x)

Numbers come out, so nobody noticed for a week that `list(net.parameters())` was empty, and the checkpoint an empty file. A
module does not look inside of Python's lists and dicts.

- `net.layers[i]`: `depth` linear layers from features to features: layers.0.weight, layers.0.bias, …
- `net.scales[i]`: a parameter without dimensions for each block, scales.0, …, which starts at 0.5.
- `net.heads[name]`: a linear layer from features to its size, heads.price.weight, …
- No two layers are the same. Indices, `len`, `"price" in net.heads` and loops work as before.

Fine print:
- forward uses what the containers hold at that moment: people replace layers, append layers with their scales, add or
  replace heads, and hang hooks on all of them.
- With depth 0 the heads see x itself; without heads the dict is empty. heads stays as it is.
- forward returns a plain dict, in the order of the heads; x has any leading dimensions, and is not changed.
- The net moves, casts and can be copied with a larger model that contains it.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ResidualNet(nn.Module):
    """Residual blocks of one width, and a linear head of the given size for each quantity."""

    def __init__(self, features: int, depth: int, heads: Mapping[str, int]) -> None:
        super().__init__()
        self.layers = [nn.Linear(features, features) for _ in range(depth)]
        self.scales = [nn.Parameter(torch.tensor(0.5)) for _ in range(depth)]
        self.heads = {name: nn.Linear(features, size) for name, size in heads.items()}

    def forward(self, x: Float[Tensor, "*batch features"]) -> dict[str, Float[Tensor, "*batch size"]]:
        """What each head predicts, by name."""
        for layer, scale in zip(self.layers, self.scales):
            x = x + scale * torch.relu(layer(x))
        return {name: head(x) for name, head in self.heads.items()}
