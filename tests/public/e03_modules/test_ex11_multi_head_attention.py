"""The contract of multi_head_attention."""

import torch

from grader.checks import expect_close, expect_equal, expect_raises
from grader.checks.registered import expect_registered


def example(answer, **options):
    """The layer of the worked example: identities, and biases of 0."""
    layer = answer.MultiHeadAttention(2, heads=1, **options)
    state = {name: torch.eye(2) if t.dim() == 2 else torch.zeros(2) for name, t in layer.state_dict().items()}
    layer.load_state_dict(state)
    return layer


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x = 1.2465 * torch.eye(2)
    wanted = torch.tensor([[1.2465, 0.0], [0.31163, 0.93487]])
    hidden = torch.ones(2, 2, dtype=torch.bool).triu(1)
    suspects = {
        "scores are not divided by sqrt(dim / heads)": lambda: (
            (x @ x.mT).masked_fill(hidden, -1e9).softmax(-1) @ x
        ),
        "softmax runs over the queries: the keys are dim=-1": lambda: (
            (x @ x.mT / 2**0.5).masked_fill(hidden, -1e9).softmax(-2) @ x
        ),
    }
    yours = example(answer)(x)
    expect_close(
        yours, wanted, "MultiHeadAttention(2, heads=1)(x)", dims="time feature", ulps=500, suspects=suspects
    )


def test_padding(answer):
    """A padded token is not seen by the others."""
    x = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    yours = example(answer, causal=False)(x, torch.tensor([[False, True]]))
    expect_close(yours, torch.tensor([[[1.0, 0.0], [1.0, 0.0]]]), "layer(x, padding) with token 1 padded")


def test_registered(answer):
    """The four linear layers are registered under their names."""
    shapes = {f"{part}.weight": [6, 6] for part in ("query", "key", "value", "out")}
    biases = {name.replace("weight", "bias"): [6] for name in shapes}
    expect_registered(
        answer.MultiHeadAttention(6, 3), "MultiHeadAttention(6, 3)", parameters={**shapes, **biases}
    )


def test_shapes(answer):
    """Batches and single sequences keep their shape; a dim that heads do not divide raises ValueError."""
    layer = answer.MultiHeadAttention(6, heads=3)
    for shape in [(2, 5, 6), (5, 6)]:
        expect_equal(
            layer(torch.ones(shape)).shape, torch.Size(shape), f"the shape of layer(x) for x of {shape}"
        )
    expect_raises(ValueError, lambda: answer.MultiHeadAttention(6, heads=4), "MultiHeadAttention(6, heads=4)")
