"""What grades straight_through: steps and their gradients; exact values, borders, dtypes, devices."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from grader.checks import expect_equal, expect_gradient, expect_that
from grader.checks.contract import Contract, device, dtypes, given, untouched


def through(hard, soft):
    return soft + (hard - soft).detach()


def rounded(x, step=1.0, how=torch.round, slope=1.0):
    """What comes after `step` is as people get it wrong."""
    return through(how(x / step) * step, slope * x)


def binary(x, soft=lambda x: torch.where(x.abs() <= 1, x, 0 * x)):
    return through(torch.where(x >= 0, 1.0, -1.0).double(), soft(x))


def picked(logits, dim=-1, soft=torch.softmax):
    return through(F.one_hot(logits.argmax(dim), logits.shape[dim]).movedim(-1, dim), soft(logits, dim))


def near(gen, *shape, **options):
    """Numbers around multiples of step, never halfway between two."""
    whole, apart = torch.randint(-6, 7, shape, generator=gen), torch.rand(shape, generator=gen) - 0.5
    x = (whole + 0.8 * apart) * options.get("step", 1.0)
    return given(x, **options)


def numbers(gen, *shape):
    return given(1.5 * torch.randn(shape, generator=gen))


def both(function):
    """The values, and the gradient of a weighted sum of them."""

    def differentiated(x, *step, **options):
        weight = 0.5 * x.detach().flatten().roll(1).reshape(x.shape)
        x = x.detach().requires_grad_()
        y = function(x, *step, **options)
        grad = torch.autograd.grad(y, x, weight)[0] if y.requires_grad else torch.zeros_like(x)
        return {"values": y.detach(), "gradient": grad}

    return differentiated


def told(suspects):
    return {words: both(function) for words, function in suspects.items()}


KEPT = [
    dtypes(
        *(torch.float64, torch.bfloat16, torch.float16),
        name="dtype_is_kept",
        title="The result has the dtype of what came in.",
    ),
    untouched(),
    device(),
]

round_to = Contract(
    "round_to(x, step)",
    reference=both(rounded),
    use=lambda answer, *call, **options: both(answer.round_to)(*call, **options),
    inputs=lambda gen: {
        "a table, step=0.25": near(gen, 3, 5, step=0.25),
        "whole numbers": near(gen, 7),
        "step=0.3": near(gen, 4, 2, step=0.3),
        "step=2": near(gen, 6, step=2.0),
    },
    suspects=told(
        {
            "step is ignored: whole numbers come back": lambda x, step=1.0: rounded(x),
            "numbers are rounded down": partial(rounded, how=torch.floor),
            "numbers are rounded toward 0": partial(rounded, how=torch.trunc),
            "x came back as it is": lambda x, step=1.0: 1 * x,
            "the multiple of step is not multiplied by step": lambda x, step=1.0: through(
                (x / step).round(), x
            ),
            "the gradient is divided by step": lambda x, step=1.0: rounded(x, step, slope=1 / step),
            "the gradient is multiplied by step": lambda x, step=1.0: rounded(x, step, slope=step),
        }
    ),
    fine=KEPT,
)
binarize = Contract(
    "binarize(x)",
    reference=both(binary),
    use=lambda answer, *call, **options: both(answer.binarize)(*call, **options),
    inputs=lambda gen: {
        "a table": numbers(gen, 3, 5),
        "eight numbers": numbers(gen, 8),
        "three dimensions": numbers(gen, 2, 3, 2),
    },
    suspects=told(
        {
            "gradients pass where x is beyond 1 as well: a number that is far out is to stay there": partial(
                binary, soft=lambda x: 1 * x
            ),
            "the gradient is that of tanh": partial(binary, soft=torch.tanh),
            "it gives 0 in place of -1": lambda x: through((x >= 0).double(), x.clamp(-1, 1)),
            "gradients pass where x is beyond 1, and not between": partial(
                binary, soft=lambda x: torch.where(x.abs() > 1, x, 0 * x)
            ),
        }
    ),
    fine=KEPT,
)
pick = Contract(
    "pick(logits)",
    reference=both(picked),
    use=lambda answer, *call, **options: both(answer.pick)(*call, **options),
    inputs=lambda gen: {
        "five rows": numbers(gen, 5, 4),
        "as many rows as logits": numbers(gen, 3, 3),
        "no rows": numbers(gen, 6),
        "three dimensions": numbers(gen, 2, 3, 4),
    },
    suspects=told(
        {
            "the softmax came back: the values are to be 0 and 1": lambda logits: logits.softmax(-1),
            "it picks along the first dimension": partial(picked, dim=0, soft=lambda x, dim: x.softmax(-1)),
            "the softmax is over the first dimension": partial(
                picked, soft=lambda logits, dim: logits.softmax(0)
            ),
            "gradients pass unchanged: they are those of softmax": partial(
                picked, soft=lambda logits, dim: 1 * logits
            ),
            "the gradient is that of log_softmax": partial(picked, soft=torch.log_softmax),
        }
    ),
    fine=KEPT,
)


@pytest.mark.fine
def test_borders(answer):
    """binarize(0) is 1, and gradients pass at -1 and 1; round_to takes halves as torch.round does."""
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, 1.0001, -1.0001], requires_grad=True)
    y = answer.binarize(x)
    expect_equal(y.detach(), torch.tensor([1.0, 1.0, 1.0, -1.0, 1.0, -1.0]), f"binarize({x.tolist()})")
    y.sum().backward()
    wanted = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    expect_gradient(x.grad, wanted, f"x through binarize(x), x = {[round(v, 4) for v in x.tolist()]}")


@pytest.mark.fine
def test_ties(answer):
    """Of equal logits one is picked."""
    yours = answer.pick(torch.tensor([[2.0, 5.0, 5.0], [1.0, 1.0, 1.0]])).detach()
    expect_equal(yours.sum(-1), torch.ones(2), "the sum over each row of pick(logits), with equal logits")
    expect_that(bool((yours[0, 0] == 0).all()), "pick(logits) picks a smaller one", yours=yours)
