"""The worked example of transformer_block, and what the block registers."""

import torch
from torch.nn import functional as F

from grader.checks import expect_close
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    block, one = answer.TransformerBlock(2, heads=1, hidden=2), torch.eye(2)
    with torch.no_grad():
        for name, p in block.named_parameters():
            p.fill_(float(name.startswith("norm") and name.endswith("weight")))
        for weight, number in ((block.qkv.weight[4:], 1), (block.out.weight, -2), (block.up.weight, 1)):
            weight.copy_(number * one)
        block.down.weight.copy_(one)
    x = torch.tensor([[[3.0, 5.0], [5.0, 1.0]]])

    def result(first=((2.0, -2.0), (0.0, 0.0)), reads=lambda x, y: y, act=F.gelu, after=False):
        """What comes out where attention adds `first`, and the network reads a norm of the stream."""
        y = x + torch.tensor([first])
        norm = lambda t: F.layer_norm(t, (2,))  # noqa: E731
        return norm((z := norm(y)) + act(z)) if after else y + act(norm(reads(x, y)))

    suspects = {
        "positions see later ones: nothing is masked": lambda: result(((0.0, 0.0), (0.0, 0.0))),
        "both branches read x: the second one reads the sum of x and attention": lambda: result(
            reads=lambda x, y: x
        ),
        "relu stands where gelu should": lambda: result(act=F.relu),
        "gelu is the approximation with tanh: here it is the exact one": lambda: result(
            act=lambda t: F.gelu(t, approximate="tanh")
        ),
        "what the network finds is not added to the stream": lambda: result(act=torch.zeros_like),
        "this is what the network adds, without the stream": lambda: result() - result(act=torch.zeros_like),
    }
    call = "TransformerBlock(2, heads=1, hidden=2)(x)"
    expect_close(block(x), result(), call, dims="batch time feature", scale=20.0, suspects=suspects)


def test_registered(answer):
    """The six layers are registered under their names, with the sizes that they should have."""
    for options, hidden in [({}, 16), ({"hidden": 5}, 5)]:
        sizes = {
            "norm1": [4],
            "norm2": [4],
            "qkv": [12, 4],
            "out": [4, 4],
            "up": [hidden, 4],
            "down": [4, hidden],
        }
        weights = {f"{name}.weight": size for name, size in sizes.items()}
        biases = {f"{name}.bias": size[:1] for name, size in sizes.items()}
        call = f"TransformerBlock(4, 2{', hidden=5' if options else ''})"
        expect_registered(answer.TransformerBlock(4, 2, **options), call, parameters={**weights, **biases})
