import torch
from jaxtyping import Float
from torch import Tensor

Number = Float[Tensor, ""]


def one_neuron(x: Number, y: Number, w: Number, b: Number) -> tuple[Number, Number, Number]:
    w.requires_grad_()
    b.requires_grad_()
    a = torch.sigmoid(x * w + b)
    loss = -(y * torch.log(a) + (1 - y) * torch.log(1 - a))
    loss.backward()
    return loss, w.grad, b.grad
