"""The contract of transformer_block."""

import torch

from grader.checks import expect_close, expect_equal, expect_raises
from grader.checks.registered import expect_registered


def shapes(dim, hidden):
    return {
        "norm1.weight": [dim], "norm1.bias": [dim], "norm2.weight": [dim], "norm2.bias": [dim],
        "qkv.weight": [3 * dim, dim], "qkv.bias": [3 * dim], "out.weight": [dim, dim], "out.bias": [dim],
        "up.weight": [hidden, dim], "up.bias": [hidden], "down.weight": [dim, hidden], "down.bias": [dim],
    }  # fmt: skip


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    block = answer.TransformerBlock(2, heads=1)
    block.load_state_dict({name: torch.zeros_like(t) for name, t in block.state_dict().items()})
    with torch.no_grad():
        block.out.bias.copy_(torch.tensor([0.0, 1.0]))
    x = torch.tensor([[3.0, 4.0]])
    expect_close(block(x), torch.tensor([[3.0, 5.0]]), "TransformerBlock(2, heads=1)(x)", dims="time feature")


def test_registered(answer):
    """The six layers are registered under their names, with the sizes that they should have."""
    block = answer.TransformerBlock(4, 2)
    expect_registered(block, "TransformerBlock(4, 2)", parameters=shapes(4, 16))
    block = answer.TransformerBlock(4, 2, hidden=5)
    expect_registered(block, "TransformerBlock(4, 2, hidden=5)", parameters=shapes(4, 5))


def test_shapes(answer):
    """Batches and single sequences keep their shape; a dim that heads do not divide raises ValueError."""
    block = answer.TransformerBlock(6, 3)
    for shape in [(2, 5, 6), (5, 6)]:
        expect_equal(
            block(torch.ones(shape)).shape, torch.Size(shape), f"the shape of block(x) for x of {shape}"
        )
    expect_raises(ValueError, lambda: answer.TransformerBlock(6, 4), "TransformerBlock(6, heads=4)")
