"""What grades sequence_loss: tokens, padding, large logits; nothing that counts, memory, shapes."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    errors,
    flat_cost,
    given,
    gradients,
    strides,
    untouched,
    values,
)


def exact(logits, targets, ignore_index=-100):
    """Token by token."""
    rows = zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True)
    losses = [-row.log_softmax(0)[token] for row, token in rows if token != ignore_index]
    return torch.stack(losses).mean() if losses else logits.sum() * 0


def over_time(logits, targets, ignore_index=-100):
    counted = targets.ne(ignore_index)
    chances = logits.log_softmax(1).gather(2, targets.where(counted, 0).unsqueeze(2))
    return -chances.squeeze(2)[counted].mean()


def by_rows(logits, targets, ignore_index=-100):
    rows = [(x, t) for x, t in zip(logits, targets, strict=True) if t.ne(ignore_index).any()]
    return torch.stack([exact(x[None], t[None], ignore_index) for x, t in rows]).mean()


def counts_padding(logits, targets, ignore_index=-100):
    return exact(logits, targets, ignore_index) * targets.ne(ignore_index).double().mean()


def reshaped(logits, targets, ignore_index=-100):
    moved = logits.reshape(len(logits), logits.shape[2], -1).mT
    return exact(moved, targets, ignore_index)


SUSPECTS = {
    "a softmax comes before: cross_entropy takes logits": lambda logits, targets, ignore_index=-100: exact(
        logits.softmax(-1), targets, ignore_index
    ),
    "softmax runs over time: the classes are the last dimension": over_time,
    "dimensions are reshaped, which moves logits to other tokens: swap them, or flatten both": reshaped,
    "it is a mean of the rows' means: each token weighs the same": by_rows,
    "padding counts in the mean: divide by the number of tokens that count": counts_padding,
    "it is the sum: the mean is asked for": lambda logits, targets, ignore_index=-100: (
        exact(logits, targets, ignore_index) * targets.ne(ignore_index).sum()
    ),
}


def with_eps(eps):
    def loss(logits, targets, ignore_index=-100):
        counted = targets.ne(ignore_index)
        chances = logits.softmax(-1)[counted].gather(1, targets[counted][:, None])
        return -(chances + eps).log().mean()

    return loss


SUSPECTS |= {
    f"softmax rounds small chances to 0, and log sees {eps:g} at least: log_softmax": with_eps(eps)
    for eps in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
}


def batch(gen, *sizes, padded=0.0, ignore_index=-100, size=2.0):
    """Logits and targets; each target but the first is padding with a probability of `padded`."""
    logits = size * torch.randn(sizes, generator=gen)
    targets = torch.randint(sizes[2] - 1, sizes[:2], generator=gen) + 1  # never token 0
    padding = torch.rand(sizes[:2], generator=gen) < padded
    padding[0, 0] = False
    targets[padding] = ignore_index
    return given(logits, targets) if ignore_index == -100 else given(logits, targets, ignore_index)


def padded(gen):
    uneven = batch(gen, 3, 5, 4)
    uneven.args[1][0, 1:] = uneven.args[1][2, 3:] = -100
    return {
        "rows of different lengths": uneven,
        "half of it padding": batch(gen, 4, 6, 3, padded=0.5),
        "ignore_index=-1": batch(gen, 3, 4, 5, padded=0.4, ignore_index=-1),
        "ignore_index=0": batch(gen, 3, 4, 5, padded=0.4, ignore_index=0),
    }


def large(gen):
    x, targets = batch(gen, 2, 3, 4).args
    return {
        "logits near 1000": given(x + 1000, targets),
        "logits near -1000": given(x - 1000, targets),
        "logits up to 1000": batch(gen, 2, 3, 4, size=1000.0),
    }


def ruled_out(gen):
    """Token 0 is no target."""
    logits, targets = batch(gen, 3, 4, 5, padded=0.3).args
    logits[:, :, 0] = -math.inf
    return {"with -inf for token 0": given(logits, targets)}


contract = Contract(
    "sequence_loss(logits, targets, ignore_index)",
    reference=exact,
    suspects=SUSPECTS,
    inputs=lambda gen: {
        "two sequences": batch(gen, 2, 3, 5),
        "as many tokens as positions": batch(gen, 4, 4, 4),
        "one sequence": batch(gen, 1, 6, 3),
        "with padding": batch(gen, 3, 5, 4, padded=0.4),
        "with padding of -1": batch(gen, 3, 4, 5, padded=0.4, ignore_index=-1),
    },
    gradient="logits",
    job=[
        values(
            inputs=padded,
            name="padding",
            title="Padding does not count, and all other tokens weigh the same.",
        ),
        values(
            inputs=large, name="large_logits", title="Logits near 1000 and -1000 do no harm.", scale=1000.0
        ),
        flat_cost(
            lambda n: (torch.zeros(n, n, n), torch.zeros(n, n).long()), over="rows, positions and tokens"
        ),
    ],
    fine=[
        gradients(
            "logits", inputs=ruled_out, name="ruled_out", title="A token of logit -inf gets gradient 0."
        ),
        dtypes(torch.float64),
        strides(),
        untouched(inputs=padded),
        device(inputs=padded),
        errors(
            (ValueError, RuntimeError),
            lambda gen: [
                given(torch.zeros(2, 3, 4), torch.zeros(sizes, dtype=torch.long))
                for sizes in [(2, 4), (3, 2), (6,), (2, 3, 1)]
            ],
            title="Targets of another shape raise an error, also with the same number of elements.",
        ),
    ],
)


@pytest.mark.fine
@pytest.mark.parametrize("sizes", [(2, 3, 4), (0, 3, 4)], ids=str)
def test_nothing_counts(answer, sizes):
    """Without a token that counts the loss is 0, and so is the gradient."""
    logits = torch.ones(sizes, requires_grad=True)
    loss = answer.sequence_loss(logits, torch.full(sizes[:2], -100))
    call = f"sequence_loss of logits {sizes}, where no token counts"
    expect_close(loss.detach(), torch.tensor(0.0), call)
    expect_that(loss.requires_grad, f"{call} is a constant: its backward raises", yours=loss)
    loss.backward()
    expect_equal(logits.grad, torch.zeros(sizes), f"the gradient for logits through {call}")


@pytest.mark.fine
def test_memory(answer, gen):
    """Computing the loss holds at most two tensors of the size of the logits at once."""
    logits, targets = batch(gen, 4, 8, 256, padded=0.2).args
    logits.requires_grad_()
    answer.sequence_loss(logits, targets)
    used = peak_bytes(lambda: answer.sequence_loss(logits, targets)) / logits.nbytes
    expect_that(
        used <= 2.2,
        "sequence_loss(logits, targets) needs too much memory",
        yours=f"{used:.1f} times the size of the logits",
        wanted="at most 2 times",
    )
