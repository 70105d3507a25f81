"""What grades mean_pooling: tokens, padding, masks; rows without tokens, NaN, half precision, devices."""

import math

import torch

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    given,
    gradients,
    half_precision,
    strides,
    untouched,
    values,
)


def pooled(hidden, mask):
    """Sentence by sentence."""
    rows = zip(hidden, mask.bool(), strict=True)
    return torch.stack([x[m].sum(0) / m.sum().clamp(min=1) for x, m in rows]) if len(mask) else hidden.sum(1)


def from_the_left(hidden, mask):
    rows = zip(hidden, mask.sum(1).tolist(), strict=True)
    return torch.stack([x[:count].mean(0) for x, count in rows])


def of_the_batch(hidden, mask):
    """Divided by the mean number of tokens in the batch."""
    return (hidden * mask.unsqueeze(-1)).sum(1) * len(mask) / mask.sum()


def halfway(hidden, mask):
    return (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True).to(hidden.dtype)


SUSPECTS = {
    "padding is in the mean: it does not count": lambda hidden, mask: hidden.mean(1),
    "the sum of the tokens is divided by the number of places: divide by the number of tokens": (
        lambda hidden, mask: (hidden * mask.unsqueeze(-1)).mean(1)
    ),
    "it is the sum of the tokens: their mean is asked for": lambda hidden, mask: (
        hidden * mask.unsqueeze(-1)
    ).sum(1),
    "it is the mean of the padding: the mask is True or 1 where a token is": lambda hidden, mask: pooled(
        hidden, mask == 0
    ),
    "it is the first token: the mean of all is asked for": lambda hidden, mask: hidden[:, 0],
    "it is the largest of the tokens: their mean is asked for": lambda hidden, mask: hidden.masked_fill(
        mask.unsqueeze(-1) == 0, -math.inf
    ).amax(1),
    "tokens are counted from the left, wherever the mask has them": from_the_left,
    "the number of tokens is that of the whole batch: each sentence has its own": of_the_batch,
}


def sentences(gen, *lengths, time=6, dim=4, left=False, kind=torch.int64):
    places = torch.arange(time).flip(0) if left else torch.arange(time)
    mask = places < torch.tensor(lengths)[:, None]
    return given(1 + torch.randn(len(lengths), time, dim, generator=gen), mask.to(kind))


def without_tokens(gen):
    return {"a row of padding alone": sentences(gen, 3, 0, 6)}


def spoiled(gen, *numbers):
    """Padding that holds what a kernel may have left there."""
    made = {}
    for number in numbers:
        hidden, mask = sentences(gen, 2, 6, 4).args
        made[f"padding of {number}"] = given(hidden.masked_fill(mask.unsqueeze(-1) == 0, number), mask)
    return made


contract = Contract(
    "mean_pool(hidden, mask)",
    reference=pooled,
    inputs=lambda gen: {
        "three sentences": sentences(gen, 2, 5, 3),
        "a bool mask": sentences(gen, 4, 1, 6, kind=torch.bool),
        "one sentence": sentences(gen, 3),
        "as many sentences as tokens": sentences(gen, 1, 4, 2, 3, time=4),
        "padding on the left": sentences(gen, 2, 6, 3, left=True),
        "padding on the left, and a bool mask": sentences(gen, 2, 3, left=True, kind=torch.bool),
    },
    gradient="hidden",
    dims="sentence feature",
    suspects=SUSPECTS,
    scale=4.0,
    job=[
        flat_cost(
            lambda n: (torch.ones(n, n, 3), torch.ones(n, n, dtype=torch.int64)), over="sentences and tokens"
        )
    ],
    fine=[
        values(
            inputs=without_tokens, name="no_token", title="A row of padding alone gives zeros and never NaN."
        ),
        gradients(
            "hidden",
            inputs=without_tokens,
            name="no_token_gradients",
            title="A row of padding alone has gradients of zeros and never NaN.",
        ),
        values(
            inputs=lambda gen: spoiled(gen, math.nan, math.inf),
            name="spoiled_padding",
            title="Padding may hold inf and NaN: nothing of it comes out.",
        ),
        gradients(
            "hidden",
            inputs=lambda gen: spoiled(gen, math.nan),
            name="spoiled_padding_gradients",
            title="Where padding holds NaN its gradient is 0.",
        ),
        half_precision(
            inputs=lambda gen: {"more tokens than bfloat16 can count": sentences(gen, 301, 259, time=320)},
            scale=0.1,
            suspects={"counts and sums are rounded to half precision": halfway},
        ),
        dtypes(torch.float64, name="float64", title="float64 stays float64."),
        empties(
            inputs=lambda gen: [
                (torch.ones(shape), torch.ones(shape[:2], dtype=torch.int64))
                for shape in [(0, 3, 4), (2, 0, 4)]
            ],
            title="No tokens give zeros, no sentences an empty result.",
        ),
        strides(),
        untouched(),
        device(),
    ],
)
