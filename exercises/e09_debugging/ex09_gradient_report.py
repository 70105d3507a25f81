"""Which gradients are missing, dead, or about to blow up?

`clip_grad_norm_` says 3.2e7 and no more. `gradient_report`, called after a backward, says where:

    model = nn.ModuleDict({"embed": nn.Linear(2, 2), "head": nn.Linear(2, 1)})
    model.embed.weight.grad = torch.tensor([[300.0, 0.0], [400.0, 0.0]])
    model.head.weight.grad = torch.zeros(1, 2)
    model.head.bias.grad = torch.tensor([0.5])
    for row in gradient_report(model, limit=100.0): print(row)

    Gradient(name='embed.weight', norm=500.0, state='exploding')
    Gradient(name='embed.bias', norm=None, state='none')
    Gradient(name='head.weight', norm=0.0, state='zero')
    Gradient(name='head.bias', norm=0.5, state='ok')

Rules:
- One row for each parameter in `model.named_parameters()`, in this order; a shared one has its first name.
- norm: the Euclidean norm of all numbers in `.grad`, as a Python float; None without a gradient. NaN among
  the numbers makes it NaN, and inf without NaN makes it inf.
- state, the first that applies: "frozen" (no gradient, and none is required), "none" (no gradient),
  "nonfinite" (NaN or inf among the numbers), "exploding" (the norm is above `limit`), "zero" (every number
  is 0), "ok". A frozen parameter that still has a gradient is judged by it: an optimizer would apply it.
- Gradients may be float16, bfloat16, float32 or float64. The norm is right to float32's precision at least,
  also where it is too large for the gradient's dtype, or where the squares of its numbers would be too large
  or too small: float32 holds 1e-44 and 1e38. (Those of float64 lie between 1e-140 and 1e140, or are 0.)
- Gradients may be sparse, as of `nn.Embedding(…, sparse=True)`, where a row may be listed more than once:
  such entries add up, in float32 or float64 whatever their dtype: 40000 + 40000 is no inf. A sparse gradient
  without entries is zero, and so is one of no numbers at all.
- The parameters may be on several devices. The host waits for a device a fixed number of times, however many
  parameters there are: a thousand `.item()` make a GPU stand still.
- Nothing is changed: not the gradients, their graphs (of `create_graph=True`) or the model. The report holds
  no tensors.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Gradient(NamedTuple):
    """What the gradient of one parameter looks like."""

    name: str
    norm: float | None
    state: str


def gradient_report(model: nn.Module, limit: float = 1000.0) -> list[Gradient]:
    """Describe the gradient of every parameter.

    Args:
        model: any module, after a backward.
        limit: the norm above which a gradient explodes.

    Returns:
        One row for each parameter.
    """
    raise NotImplementedError
