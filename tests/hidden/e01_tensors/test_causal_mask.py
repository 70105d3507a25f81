"""What grades causal_mask: the offset, -inf, gradients; dtypes, padding, memory, devices."""

import math

import pytest
import torch

from grader.checks import expect_equal, expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    gradients,
    strides,
    untouched,
    values,
)
from grader.checks.devices import is_simulated, on_host


def by_pairs(queries, keys, offset=None, own=0):
    """The mask, pair by pair."""
    offset = keys - queries if offset is None else offset
    seen = [[key <= query + offset - own for key in range(keys)] for query in range(queries)]
    return torch.tensor(seen, dtype=torch.bool).reshape(queries, keys)


def hidden_future(scores):
    visible = by_pairs(*scores.shape[-2:])
    return torch.where(visible, scores, torch.full_like(scores, -math.inf))


def sizes(gen):
    queries, more = torch.randint(3, 9, (2,), generator=gen).tolist()
    return {
        "as many queries as keys": (queries, queries),
        "the last queries": (queries, queries + more),
        "a single query": (1, more),
    }


def batches(gen):
    return {
        "a batch of heads": torch.randn(2, 3, 4, 4, generator=gen),
        "the last queries": torch.randn(3, 2, 5, generator=gen),
        "scores without a batch": torch.randn(3, 6, generator=gen),
    }


mask = Contract(
    "causal_mask(queries, keys)",
    reference=by_pairs,
    inputs=sizes,
    suspects={
        "the queries are counted from the start of the keys, and are their last positions": (
            lambda queries, keys: by_pairs(queries, keys, offset=0)
        ),
        "a query does not see its own position": lambda queries, keys: by_pairs(queries, keys, own=1),
        "it is True where the key is hidden": lambda queries, keys: ~by_pairs(queries, keys),
    },
    dims="query key",
    job=[
        values(title="Each query sees its own position and all before it, counted from the end of the keys."),
        flat_cost(lambda n: (n, n), over="queries and keys"),
    ],
    fine=[
        empties(
            inputs=lambda gen: {"no queries": (0, 4), "nothing at all": (0, 0)},
            title="No queries make an empty mask.",
        ),
        errors(ValueError, lambda gen: [(4, 3), (1, 0)], title="More queries than keys raise ValueError."),
    ],
)

scores = Contract(
    "mask_scores(scores)",
    reference=hidden_future,
    inputs=batches,
    job=[
        values(title="Hidden scores become -inf and the others stay, with any dimensions in front."),
        flat_cost(lambda n: torch.zeros(n, n, n), over="the batch, queries and keys"),
    ],
    fine=[
        dtypes(torch.float16, torch.bfloat16, torch.float64),
        values(
            inputs=lambda gen: {
                "padding": torch.tensor([[0.5, math.nan, math.inf], [2.0, 3.0, -math.inf], [4.0, 5.0, 6.0]])
            },
            name="padding",
            title="Hidden inf and NaN become -inf.",
        ),
        strides(),
        empties(),
        untouched(),
        device(),
        errors(
            ValueError,
            lambda gen: [torch.zeros(2, 4, 3), torch.zeros(1, 0)],
            title="More queries than keys raise ValueError.",
        ),
    ],
)

weights = Contract(
    "mask_scores(scores)",
    use=lambda answer, scores: answer.mask_scores(1 * scores).softmax(-1),
    reference=lambda scores: hidden_future(scores).softmax(-1),
    inputs=lambda gen: {"scores, after softmax": torch.randn(2, 3, 5, generator=gen)},
    gradient="scores",
    job=[
        values(title="After softmax, what is hidden has no weight."),
        gradients("scores", title="Through the softmax, gradients flow back to scores, and are right."),
    ],
)


def test_device_asked_for(answer, device):
    """The mask is on the device that is asked for."""
    made = answer.causal_mask(2, 3, device)
    expect_that(is_simulated(made), "causal_mask(2, 3, device) is on another device", yours=made)
    expect_equal(on_host(made), by_pairs(2, 3), "causal_mask(2, 3, device)", dims="query key")


@pytest.mark.fine
def test_one_plane_for_the_batch(answer):
    """Beyond the result, memory for a few planes is enough for a batch of 96."""
    plane = 8 * 8
    for kind, given in {
        "float32": torch.zeros(24, 4, 8, 8),
        "transposed": torch.zeros(4, 24, 8, 8).transpose(0, 1),
        "float16": torch.zeros(96, 8, 8, dtype=torch.float16),
    }.items():
        peak = peak_bytes(lambda given=given: answer.mask_scores(given))
        expect_that(
            peak <= given.nbytes + 48 * plane,
            "mask_scores(scores) holds more than the result and a few (query, key) planes",
            yours=f"{peak} bytes at once for {kind} scores",
            wanted=f"{given.nbytes} bytes for the result, and at most {48 * plane} more",
            likely="a mask, a fill value or a copy for every element of the batch; one plane broadcasts",
        )
