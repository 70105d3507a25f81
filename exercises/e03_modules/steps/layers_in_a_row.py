"""Layers one after another: `nn.Sequential`.

Return a classifier of five layers: linear from `features` to 30, ReLU, linear to 20, ReLU, linear to
`classes`.

    model = layers_in_a_row(4, 3)
    model(torch.zeros(5, 4)).shape      # torch.Size([5, 3])

What comes out are logits: raw scores, any numbers at all. So nothing comes after the last linear layer.

New here: `nn.Sequential(nn.Linear(4, 30), nn.ReLU(), ...)` is a module that runs its layers in this order.
`nn.ReLU()` is the ReLU as a layer.
"""

from torch import nn


def layers_in_a_row(features: int, classes: int) -> nn.Sequential:
    raise NotImplementedError
