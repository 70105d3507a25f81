"""The suite of pixels_inside."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def run(answer, network):
    """What comes out, and how many numbers the model can train: those of the network."""
    weight, pixels = network
    network = nn.Linear(*weight.shape[::-1], bias=False)
    network.weight = nn.Parameter(weight.clone())
    model = answer.PixelsInside(network)
    return {
        "the output": model(pixels).detach(),
        "numbers to train": sum(p.numel() for p in model.parameters()),
    }


def scaled(network, by=lambda pixels: pixels / 255):
    weight, pixels = network
    return {"the output": by(pixels.double()) @ weight.T, "numbers to train": weight.numel()}


def in_place(network):
    pixels = network[1]
    pixels /= 255


class WithoutSuper(nn.Module):
    def __init__(self, network):
        self.network = nn.Linear(1, 1)


def draw(gen):
    return {
        f"{batch} images of {n} pixels": given(
            (torch.randn(outputs, n, generator=gen), torch.randint(256, (batch, n), generator=gen).byte())
        )
        for batch, n, outputs in [(1, 3, 2), (4, 16, 3), (7, 5, 1)]
    }


contract = Contract(
    "PixelsInside(network)",
    reference=scaled,
    example=(
        given((torch.ones(1, 2), torch.tensor([[255, 255], [0, 102]], dtype=torch.uint8))),
        {"the output": torch.tensor([[2.0], [0.4]]), "numbers to train": 2},
    ),
    inputs=draw,
    suspects={
        "the pixels are not scaled: divide them by 255": lambda network: scaled(network, by=lambda x: x),
        "`//` rounds down, so that nearly all pixels are 0: divide by `/`": (
            lambda network: scaled(network, by=lambda x: x // 255)
        ),
        "the pixels are divided by 256, and 255 is to become 1": (
            lambda network: scaled(network, by=lambda x: x / 256)
        ),
        "`/=` wants to put fractions into uint8: write `pixels / 255`": in_place,
        "the constructor begins with super().__init__()": WithoutSuper,
        "the network gets uint8: divide the pixels by 255 first": (
            lambda network: nn.Linear(network[1].shape[1], len(network[0]), bias=False)(network[1])
        ),
    },
    use=run,
)
