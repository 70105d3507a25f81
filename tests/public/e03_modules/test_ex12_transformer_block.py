"""The worked example of transformer_block, and what the block registers."""

import torch

from grader.checks import expect_close
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    block = answer.TransformerBlock(2, heads=1)
    block.load_state_dict({name: torch.zeros_like(t) for name, t in block.state_dict().items()})
    with torch.no_grad():
        block.out.bias.copy_(torch.tensor([0.0, 1.0]))
    x, wanted = torch.tensor([[[3.0, 4.0]]]), torch.tensor([[[3.0, 5.0]]])
    suspects = {
        "what attention finds is not added to the stream": lambda: x,
        "this is what attention adds, without the stream": lambda: wanted - x,
        "the norms stand in the stream: they belong before the branches": lambda: torch.zeros_like(x),
    }
    call = "TransformerBlock(2, heads=1)(x)"
    expect_close(block(x), wanted, call, dims="batch time feature", suspects=suspects)


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
