"""What grades embedding_with_padding: values, gradients, the start, training; negative ids, huge tables."""

import math
from functools import partial

import pytest
import torch

from grader.checks import expect_equal, expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    errors,
    flat_cost,
    layer,
    registered,
    values,
    without,
)


def looked_up(state, ids, padding=0, hide=lambda ids, padding: ids == padding):
    """The rows; `hide` is the ids that give zeros."""
    rows = state["weight"]
    found = rows[ids]
    if padding is None:
        return found
    return torch.where(hide(ids, padding % len(rows))[..., None], torch.zeros_like(found), found)


def call(gen, tokens, dim, *shape, row=0.0, padding=0):
    """A call of a layer with these numbers; every fifth id or so is padding, whose row holds `row`."""
    weight = torch.randn(tokens, dim, generator=gen)
    ids = torch.randint(tokens, shape, generator=gen)
    if padding is not None:
        weight[padding] = row
        ids[torch.rand(shape, generator=gen) < 0.2] = padding % tokens
        ids.view(-1)[-1:] = padding % tokens
    return layer(tokens, dim, padding=padding, state={"weight": weight})(ids)


contract = Contract(
    "PaddedEmbedding(tokens, dim, padding)(ids)",
    reference=looked_up,
    inputs=lambda gen: {
        "texts, padding is 0": call(gen, 7, 4, 3, 6),
        "texts, padding is 3": call(gen, 6, 5, 4, 7, padding=3),
        "a text, padding is the last id": call(gen, 5, 3, 8, padding=4),
    },
    dims="text time dim",
    suspects={
        "0 is taken for padding, whatever padding is": partial(looked_up, hide=lambda ids, padding: ids == 0),
        "padding is kept, and everything else is 0": partial(
            looked_up, hide=lambda ids, padding: ids != padding
        ),
        "padding is not hidden": partial(looked_up, padding=None),
    },
    job=[
        without("embedding", "embedding_bag"),
        registered(),
        flat_cost(lambda n: layer(5, 3, padding=1)(torch.ones(n, 4, dtype=torch.long)), over="texts"),
    ],
    fine=[
        values(
            inputs=lambda gen: {
                "a single id": call(gen, 5, 3),
                "no ids": layer(5, 3)(torch.zeros(2, 0, dtype=torch.long)),
                "four dimensions": call(gen, 9, 3, 2, 1, 3, 4, padding=5),
            },
            name="other_shapes",
            title="ids have any shape.",
        ),
        values(
            inputs=lambda gen: {
                "padding is the last row": call(gen, 6, 4, 3, 5, row=5.0, padding=-1),
                "padding is the last row but one": call(gen, 6, 4, 3, 5, row=5.0, padding=-2),
                "no padding": call(gen, 6, 4, 3, 5, padding=None),
            },
            name="negative_or_none",
            title="padding may count from the end, or be None.",
        ),
        values(
            inputs=lambda gen: {
                "a padding row of 5": call(gen, 6, 4, 3, 5, row=5.0, padding=2),
                "a padding row of inf": call(gen, 6, 4, 3, 5, row=math.inf),
                "a padding row of NaN": call(gen, 6, 4, 3, 5, row=math.nan, padding=1),
            },
            name="loaded_rows",
            title="Padding gives zeros, whatever its row holds.",
        ),
        device(),
        errors(ValueError, lambda gen: [layer(4, 3, 4), layer(4, 3, -5)], name="bad_padding"),
    ],
)


def learned(state, ids, padding=0, seen=lambda ids, padding: ids != padding):
    """The gradient of (y + y² / 2).sum() for the weight; `seen` is the ids that count."""
    back = (1 + looked_up(state, ids, padding)) * seen(ids, padding % len(state["weight"]))[..., None]
    return torch.zeros_like(state["weight"]).index_add(0, ids.flatten(), back.flatten(0, -2))


def backward(made, ids):
    """The same, by the backward of a layer: hooks on its weight run."""
    made.weight.grad = None
    y = made(ids)
    (y + y.square() / 2).sum().backward()
    return made.weight.grad


gradient = Contract(
    "PaddedEmbedding(tokens, dim, padding)(ids)",
    reference=learned,
    use=backward,
    inputs=lambda gen: {
        "texts, padding is 0": call(gen, 7, 4, 3, 6),
        "texts, padding is 3": call(gen, 6, 5, 4, 7, padding=3),
        "a text, padding is the last id": call(gen, 5, 3, 8, padding=4),
    },
    ulps=100,
    suspects={
        "the row of padding has a gradient too": partial(
            learned, seen=lambda ids, padding: torch.ones_like(ids)
        ),
    },
    job=[values(title="The weight's gradient is right, and 0 for padding.")],
)


@pytest.mark.parametrize("padding", [0, 3])
def test_start(answer, padding):
    """At first the row of padding is 0, and all others are normal numbers with standard deviation 1."""
    weight = answer.PaddedEmbedding(200, 50, padding).weight.detach().clone()
    row = weight[padding]
    expect_that(
        not row.any(), f"row {padding}, that of padding, is not 0 in a new layer", yours=row[:4].tolist()
    )
    rest = torch.cat([weight[:padding], weight[padding + 1 :]])
    std, mean = float(rest.std()), float(rest.mean())
    told = "the other rows of a new layer are not normal, with mean 0 and standard deviation 1"
    expect_that(0.95 < std < 1.05 and abs(mean) < 0.06, told, mean=f"{mean:.3g}", deviation=f"{std:.3g}")
    share = float((rest.abs() < 1).float().mean())
    expect_that(abs(share - 0.683) < 0.05, told, within_1=f"{100 * share:.0f} %, of 68 %")


def test_training(answer, gen):
    """After some steps of an optimizer the row of padding is 0 still, and the others have moved."""
    for kind in (torch.optim.SGD, torch.optim.AdamW):
        layer = answer.PaddedEmbedding(4, 3, 1)
        before = layer.weight.detach().clone()
        optimizer = kind(layer.parameters(), lr=0.1, weight_decay=0.1)
        target = torch.randn(2, 4, 3, generator=gen)
        for _ in range(3):
            optimizer.zero_grad()
            (layer(torch.tensor([[2, 0, 1, 1], [3, 1, 1, 1]])) - target).square().sum().backward()
            optimizer.step()
        moved = [n for n, row in enumerate(layer.weight.detach()) if not torch.equal(row, before[n])]
        expect_equal(moved, [0, 2, 3], f"the rows that moved in three steps of {kind.__name__}")


@pytest.mark.fine
@pytest.mark.parametrize("size", [math.inf, math.nan], ids=str)
def test_no_gradient_from_padding(answer, size):
    """Where a gradient of inf or NaN comes back at padding, the row's is 0 all the same."""
    layer = answer.PaddedEmbedding(3, 2, 1)
    back = torch.ones(3, 2)
    back[1] = size
    layer(torch.tensor([2, 1, 0])).backward(back)
    wanted = torch.tensor([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    expect_equal(layer.weight.grad, wanted, f"the gradient for weight, with {size} back at padding,")


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_dtypes(answer, gen, dtype):
    """A layer that is cast gives its numbers as they are."""
    layer = answer.PaddedEmbedding(4, 3, 1).to(dtype)
    rows = torch.randn(4, 3, generator=gen, dtype=torch.float64).to(dtype)
    layer.load_state_dict({"weight": rows})
    wanted = torch.stack([rows[3], torch.zeros(3, dtype=dtype), rows[0]])
    expect_equal(layer(torch.tensor([3, 1, 0])).detach(), wanted, f"layer(ids) of a layer in {dtype}")


@pytest.mark.fine
def test_huge_table(answer):
    """forward makes no tensor of the size of the table."""
    layer, ids = answer.PaddedEmbedding(5000, 4, 2), torch.tensor([[3, 2, 4999]])
    layer(ids)
    used, table = peak_bytes(lambda: layer(ids)), layer.weight.nbytes
    told = "layer(ids) of three ids makes a tensor as large as the table"
    expect_that(used < table / 4, told, yours=f"{used} bytes", table=f"{table} bytes")
