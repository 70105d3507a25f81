"""The suite of convolve_and_pool."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def run(made, images):
    """The shape, and what the model gives with certain weights."""
    model, shape = made
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())))
    return {"shape": str(tuple(shape)), "model(images)": model.to(images.dtype)(images).detach()}


def made(*layers, padding=1):
    def called(images, filters):
        model = nn.Sequential(nn.Conv2d(3, filters, 3, padding=padding), *layers)
        return run((model, model(images.float()).shape), images)

    return called


contract = Contract(
    "convolve_and_pool(images, filters)",
    reference=made(nn.ReLU(), nn.MaxPool2d(2)),
    example=(
        given(torch.zeros(10, 3, 32, 32), 8),
        made(nn.ReLU(), nn.MaxPool2d(2))(torch.zeros(10, 3, 32, 32), 8),
    ),
    inputs=lambda gen: {
        f"{n} images of {side} × {side}": given(torch.rand(n, 3, side, side, generator=gen), filters)
        for n, side, filters in [(2, 8, 4), (1, 12, 2), (3, 6, 5)]
    },
    use=lambda answer, images, filters: run(answer.convolve_and_pool(images, filters), images),
    suspects={
        "the images shrink: padding=1 is missing": made(nn.ReLU(), nn.MaxPool2d(2), padding=0),
        "the ReLU is missing": made(nn.MaxPool2d(2)),
        "the pooling is missing": made(nn.ReLU()),
        "there are always 8 filters: take as many as are asked for": lambda images, filters: made(
            nn.ReLU(), nn.MaxPool2d(2)
        )(images, 8),
        "this is the shape of the images: run the model": lambda images, filters: {
            "shape": str(tuple(images.shape))
        },
    },
)
