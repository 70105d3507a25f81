"""Listen to one layer: a forward hook.

You want to see what `layer`, somewhere inside `model`, returns while the model runs. Run `model(x)`, and return the
output of that layer.

    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    # with weight 2.0 and bias 1.0
    a_hook_that_listens(model, model[0], torch.tensor([[3.0]]))
    # tensor([[7.]])

- Let the hook append the output to a list.
- When the model has run, remove the hook. If the model raises, it may stay.

New here: after `handle = layer.register_forward_hook(hook)` PyTorch calls `hook(module, inputs, output)`, a function
that you write, each time the layer has run; `handle.remove()` ends that.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def a_hook_that_listens(
    model: nn.Module, layer: nn.Module, x: Float[Tensor, "rows features"]
) -> Float[Tensor, "rows outputs"]:
    raise NotImplementedError
