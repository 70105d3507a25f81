"""The worked example of multi_head_attention, its padding, and what the layer registers."""

import torch

from grader.checks import expect_close, expect_equal, expect_that


def example(answer, **options):
    """The layer of the worked example: identities, and biases of 0."""
    layer = answer.MultiHeadAttention(2, heads=1, **options)
    with torch.no_grad():
        for p in layer.parameters():
            p.copy_(torch.eye(2) if p.dim() == 2 else torch.zeros(2))
    return layer


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    x = 1.2465 * torch.eye(2)[None]
    wanted = torch.tensor([[[1.2465, 0.0], [0.31163, 0.93487]]])
    hidden = torch.ones(2, 2, dtype=torch.bool).triu(1)
    scores = x @ x.mT / 2**0.5
    suspects = {
        "hidden scores become 0, which still counts: fill in the lowest number": lambda: (
            scores.masked_fill(hidden, 0.0).softmax(-1) @ x
        ),
        "the mask comes after the softmax: mask the scores before": lambda: (
            scores.softmax(-1).masked_fill(hidden, 0.0) @ x
        ),
        "scores are not divided by sqrt(dim / heads)": lambda: (
            (x @ x.mT).masked_fill(hidden, -1e9).softmax(-1) @ x
        ),
        "softmax runs over the queries: the keys are dim=-1": lambda: (
            scores.masked_fill(hidden, -1e9).softmax(-2) @ x
        ),
    }
    call = "MultiHeadAttention(2, heads=1)(x)"
    yours = example(answer)(x)
    expect_close(yours, wanted, call, dims="batch time feature", ulps=500, suspects=suspects)


def test_padded_token(answer):
    """A padded token is not seen by the others."""
    x = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    yours = example(answer, causal=False)(x, torch.tensor([[False, True]]))[:, :1]
    suspects = {"True marks the real tokens here: it marks padding": lambda: x[:, 1:]}
    call = "layer(x, padding)[:, :1] with token 1 padded"
    expect_close(yours, x[:, :1], call, dims="batch time feature", suspects=suspects)


def test_registered(answer):
    """The four linear layers are registered under their names, each with weights of its own."""
    wanted = {f"{part}.weight": [6, 6] for part in ("query", "key", "value", "out")}
    for bias in (False, True):
        wanted |= {name.replace("weight", "bias"): [6] for name in wanted if bias}
        named = answer.MultiHeadAttention(6, 3, bias=bias).named_parameters(remove_duplicate=False)
        found = {name: list(p.shape) for name, p in named}
        call = f"MultiHeadAttention(6, 3, bias={bias})"
        missing = [name for name in wanted if name not in found]
        told = f"{call} lacks parameters"
        expect_that(
            not missing,
            told,
            lacks=", ".join(missing),
            likely="a layer in a plain list, or not made at all: a module knows what is an attribute",
        )
        expect_equal(found, wanted, f"the parameters of {call}")
    parameters = list(answer.MultiHeadAttention(6, 3).parameters())
    expect_that(len(parameters) == len(wanted), "two of the layers share a parameter")
