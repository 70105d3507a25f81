"""A network becomes a file: weights in int8, normalisation inside, exported."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .model import Net, network
from .pixels import SIZE


class Int8Linear(nn.Module):
    """A linear layer with weights in int8, and one scale for each output feature."""

    weight: Tensor
    scale: Tensor
    bias: Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        wide = linear.weight.detach()  # (out, in)
        scale = wide.abs().max().repeat(len(wide), 1) / 127  # (out, 1)
        scale = scale.masked_fill(scale == 0, 1.0)
        self.register_buffer("weight", (wide / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.register_buffer("bias", linear.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.float() * self.scale, self.bias)


def quantize(net: Net) -> Net:
    """Put the linear layers of the body into int8; the head stays as it is."""
    for place, layer in enumerate(net.body):
        if isinstance(layer, nn.Linear):
            net.body[place] = Int8Linear(layer)
    return net


class Bundle(nn.Module):
    """A network with the normalisation that it was trained with: pictures from 0 to 1 in, logits out."""

    mean: Tensor
    std: Tensor

    def __init__(self, net: nn.Module, mean: Tensor, std: Tensor) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("mean", mean.view(-1, 1, 1))
        self.register_buffer("std", std.view(-1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        normal = (x - self.mean) / self.std  # (pictures, 3, SIZE, SIZE)
        return self.net(normal).softmax(-1)  # (pictures, classes)


def export(model: nn.Module, path: str | Path, labels: list[str]) -> None:
    """Write a model of pictures (pictures, 3, SIZE, SIZE), and its labels, to a file."""
    model.eval()
    example = (torch.rand(2, 3, SIZE, SIZE),)
    shapes = ({0: torch.export.Dim("pictures")},)
    program = torch.export.export(model, example, dynamic_shapes=shapes)
    torch.export.save(program, path, extra_files={"labels": json.dumps(labels)})


def release(checkpoint: dict[str, Any], path: str | Path) -> None:
    """All of it: from a checkpoint to the file that is served."""
    net = quantize(network(checkpoint))
    export(Bundle(net, checkpoint["mean"], checkpoint["std"]), path, checkpoint["labels"])
