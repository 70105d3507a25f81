"""What grades gather_token_logprobs: values and gradients, precision, extreme logits, devices."""

import math

import pytest
import torch

from grader.checks import expect_close
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    strides,
    untouched,
    values,
)


def draw(gen, batch, time, vocab):
    logits = 4 * torch.randn(batch, time, vocab, generator=gen)
    return logits, torch.randint(vocab, (batch, time), generator=gen)


def texts(gen):
    return {
        "three sequences": draw(gen, 3, 4, 5),
        "one sequence": draw(gen, 1, 6, 8),
        "a single token": draw(gen, 1, 1, 12),
    }


def batches(gen):
    return [draw(gen, *sizes) for sizes in [(2, 3, 5), (4, 2, 3), (4, 4, 4)]]


def at(targets, scores):
    return scores.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def reference(logits, targets):
    """By a mask: no token but the target counts."""
    is_target = targets.unsqueeze(-1) == torch.arange(logits.shape[-1])
    return logits.log_softmax(-1).masked_fill(~is_target, 0.0).sum(-1)


def on(rows, targets):
    return lambda gen: [(torch.tensor([rows]), torch.tensor([targets]))]


contract = Contract(
    "token_logprobs(logits, targets)",
    reference=reference,
    inputs=texts,
    gradient="logits",
    suspects={
        "the logits are not normalised: log_softmax comes first": lambda logits, targets: at(targets, logits),
        "log_softmax runs over time: dim=-1 is the vocabulary": lambda logits, targets: at(
            targets, logits.log_softmax(1)
        ),
        "log_softmax runs over the batch: dim=-1 is the vocabulary": lambda logits, targets: at(
            targets, logits.log_softmax(0)
        ),
        "the probability, not its logarithm": lambda logits, targets: reference(logits, targets).exp(),
        "logits and targets are shifted once more: they fit as they are": lambda logits, targets: reference(
            logits[:, :-1], targets[:, 1:]
        ),
        "each position takes the target of the next one": lambda logits, targets: reference(
            logits, targets.roll(-1, 1)
        ),
        "the target 0 is taken for padding: it is a token like any other": lambda logits, targets: (
            reference(logits, targets) * (targets > 0)
        ),
    },
    dims="batch time",
    scale=10.0,  # results near 0 come out of logits of about 10, and carry their rounding
    job=[
        values(inputs=batches, title="Each position gets the log-probability of its own target."),
        values(
            inputs=lambda gen: [draw(gen, *sizes) for sizes in [(1, 4, 5), (4, 1, 5), (1, 1, 5)]],
            name="sizes_of_one",
            title="One sequence, and sequences of one token, keep their dimensions.",
        ),
        flat_cost(
            lambda n: (torch.zeros(n, n, n), torch.zeros(n, n, dtype=torch.int64)),
            over="batch, time and vocabulary",
        ),
    ],
    fine=[
        values(
            inputs=on([[0.0, -300.0, -1.0], [2.0, 0.0, -250.0]], [1, 2]),
            name="unlikely_tokens",
            title="A very unlikely token has a log-probability of -300 or so, not -inf.",
        ),
        values(
            inputs=on([[1e4, 1e4, 0.0], [-1e4, -1e4, -1e4], [300.0, 0.0, 299.0]], [1, 2, 0]),
            scale=1e4,
            ulps=4,
            name="large_logits",
            title="Logits of 10000 give finite numbers.",
        ),
        values(
            inputs=on([[1.0, -math.inf, 2.0], [-math.inf, 3.0, -math.inf], [0.0, -math.inf, 1.0]], [2, 1, 1]),
            name="forbidden_tokens",
            title="Logits of -inf leave the other tokens their values; a target that is ruled out gets -inf.",
        ),
        dtypes(torch.float64, title="float64 logits are computed and returned in float64."),
        empties(
            inputs=lambda gen: {"no sequences": draw(gen, 0, 3, 5), "no positions": draw(gen, 2, 0, 5)},
            title="No sequences, or no positions, give an empty result.",
        ),
        strides(),
        untouched(),
        device(title="Logits on another device are worked on there: no number is copied to the host."),
    ],
)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(answer, gen, dtype):
    """float16 and bfloat16 logits become float32 first: the result has the digits of float32."""
    logits, targets = draw(gen, 2, 3, 130)
    logits = logits.to(dtype)
    wanted = reference(logits.double(), targets).float()
    yours = answer.token_logprobs(logits, targets)
    expect_close(yours, wanted, f"token_logprobs(logits, targets) of {dtype} logits", dims="batch time")
