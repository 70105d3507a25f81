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

- One row for each parameter in `model.named_parameters()`, in this order.
- norm is the Euclidean norm of all numbers in `.grad`, a Python float; None without a gradient.
- state is the first of these that is true:

    "frozen"      there is no gradient, and the parameter requires none
    "none"        there is no gradient
    "nonfinite"   NaN or inf is among the numbers
    "exploding"   the norm is above `limit`
    "zero"        every number is 0
    "ok"          none of these

Fine print:
- A frozen parameter that still has a gradient is judged by it: an optimizer would apply it.
- The norm of a float16, bfloat16 or float32 gradient is right where the norm, or the squares of the numbers, do not fit
  into its dtype: float32 holds 1e-44 and 1e38, but not their squares.
- A NaN among the numbers makes the norm NaN; inf without NaN makes it inf.
- The parameters may be on several devices. The host waits for a device a fixed number of times, however many parameters
  there are: a thousand `.item()` make a GPU stand still.
- Nothing changes: not the gradients, their graphs (of `create_graph=True`) or the model.
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
    """Describe the gradient of every parameter, after a backward; above `limit` a norm explodes."""
    raise NotImplementedError
