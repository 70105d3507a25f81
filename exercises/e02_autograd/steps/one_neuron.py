"""One logistic neuron and its gradients: the computation graph.

A neuron computes `z = x * w + b`, the probability `a = 1 / (1 + exp(-z))`, and from the label y the loss
`-(y * log(a) + (1 - y) * log(1 - a))`. Return the loss as it is, and its gradients for w and b. w and b
come without requires_grad.

    x, y = torch.tensor(1.1), torch.tensor(1.0)
    one_neuron(x, y, torch.tensor(2.2), torch.tensor(0.0))
    # (tensor(0.0852), tensor(-0.0898), tensor(-0.0817)); the loss is printed
    # here without its grad_fn

New here: the recorded operations are a computation graph; backward multiplies their slopes along it: the
chain rule. `torch.exp`, `torch.log`, `torch.sigmoid` (gives a).
"""

import torch
from jaxtyping import Float
from torch import Tensor

Number = Float[Tensor, ""]


def one_neuron(x: Number, y: Number, w: Number, b: Number) -> tuple[Number, Number, Number]:
    raise NotImplementedError
