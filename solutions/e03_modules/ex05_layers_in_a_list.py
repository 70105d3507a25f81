"""Layers in a list: a network that hides most of itself from the optimizer.

`ResidualNet` sends features through `depth` residual blocks, each with a scale of its own, and ends in
several heads, one for each quantity that is predicted:

    net = ResidualNet(features=4, depth=2, heads={"price": 1, "rooms": 6})
    y = net(torch.randn(8, 4))          # {"price": (8, 1), "rooms": (8, 6)}
    # block i:  x = x + scales[i] * relu(layers[i](x));   head:  y[name] = heads[name](x)

Numbers come out, so nobody noticed for a week. Then: `list(net.parameters())` was empty and the optimizer
refused it; `net.to("cuda")` moved nothing; the checkpoint was an empty file; `net.eval()` did not reach a
dropout that somebody had put among the layers. A module does not look for modules and parameters inside of
Python's lists and dicts.

What has to be there, under these names, and nothing else:
- `net.layers[i]`, `depth` linear layers from features to features, with parameters layers.0.weight,
  layers.0.bias, layers.1.weight, …
- `net.scales[i]`, a parameter without dimensions for each block, scales.0, …, which starts at 0.5.
- `net.heads[name]`, a linear layer from features to the given size, with heads.price.weight, …

Rules:
- All of them are trained, frozen, moved, cast, saved, loaded, copied, and switched by `train()` and
  `eval()`, with the net or with a larger model that contains it. Each layer is one of its own and starts
  as `nn.Linear` does.
- `len(net.layers)`, `net.layers[-1]`, `net.heads["price"]`, `"price" in net.heads` and loops over them work
  as before. Forward uses what they hold at that moment: people replace layers, append layers with their
  scales, add or replace heads, and hang hooks on all of them.
- forward returns a plain dict with a tensor for each head, in the order of the heads. With depth 0 the heads
  see x itself; without heads the dict is empty.
- x has any leading dimensions, and the dtype and device of the net; it is not changed. Gradients reach it
  and every parameter.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ResidualNet(nn.Module):
    """Residual blocks of one width, and a linear head for each quantity.

    Args:
        features: the number of features of a sample, and the width of every block.
        depth: the number of blocks, 0 or more.
        heads: the size of each head, by its name: letters and underscores, such as "price"; no name of a
            method of dicts or modules. It is not changed.
    """

    def __init__(self, features: int, depth: int, heads: Mapping[str, int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(features, features) for _ in range(depth))
        self.scales = nn.ParameterList(nn.Parameter(torch.tensor(0.5)) for _ in range(depth))
        self.heads = nn.ModuleDict({name: nn.Linear(features, size) for name, size in heads.items()})

    def forward(self, x: Float[Tensor, "*batch features"]) -> dict[str, Float[Tensor, "*batch size"]]:
        """What each head predicts, by name."""
        for layer, scale in zip(self.layers, self.scales, strict=False):
            x = x + scale * torch.relu(layer(x))  # (*batch, features)
        return {name: head(x) for name, head in self.heads.items()}
