"""What grades sliding_window_attention: who sees whom, gradients; memory, loops, dtypes, devices, errors."""

import math

import pytest
import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    strides,
    untouched,
    values,
)


def attention(
    q,
    k,
    v,
    window,
    sees=lambda t, s, window: t - window < s <= t,
    scale=lambda dim: dim**-0.5,
    over=-1,
    fill=-math.inf,
    late=False,
    before=lambda x: x,
):
    """By a matrix of who sees whom; what comes after `window` is as people get it wrong."""
    (time, dim), k, v = q.shape[-2:], before(k), before(v)
    more = k.shape[-2] - time  # keys before the first one
    seen = [[sees(t, s - more, window) for s in range(time + more)] for t in range(time)]
    hidden = ~torch.tensor(seen, dtype=torch.bool)
    scores = scale(dim) * q @ k.mT
    if late:
        return scores.softmax(over).masked_fill(hidden, 0.0) @ v
    return scores.masked_fill(hidden, fill).softmax(over) @ v


def wrong(**how):
    return lambda *given, **options: attention(*given, **options, **how)


def zeros_before(x):
    """As many tokens of zeros as the window is long at most."""
    return torch.cat([torch.zeros_like(x), x], -2)


def wrapped(x):
    return torch.cat([x, x], -2)


def tokens(gen, window, *shape):
    return given(*torch.randn(3, *shape, generator=gen), window=window)


contract = Contract(
    "window_attention(q, k, v, window)",
    reference=attention,
    inputs=lambda gen: {
        "a window of 3": tokens(gen, 3, 2, 2, 8, 4),
        "a window of 2, as many tokens as heads": tokens(gen, 2, 2, 7, 7, 3),
        "a window of 4 for 9 tokens": tokens(gen, 4, 1, 3, 9, 6),
        "each token alone": tokens(gen, 1, 2, 1, 5, 4),
        "a window as long as the text": tokens(gen, 6, 2, 2, 6, 5),
        "a window longer than the text": tokens(gen, 50, 1, 2, 5, 4),
    },
    gradient="q k v",
    dims="batch heads time dim",
    ulps=200,
    scale=4.0,
    suspects={
        "a token sees window tokens before it, and itself: it counts among them": wrong(
            sees=lambda t, s, window: t - window <= s <= t
        ),
        "a token sees window - 1 tokens, itself counted: `>` where `>=` belongs?": wrong(
            sees=lambda t, s, window: t - window + 1 < s <= t or s == t
        ),
        "a token sees all that came before: there is no window": wrong(sees=lambda t, s, window: s <= t),
        "a token sees as many that come after it": wrong(sees=lambda t, s, window: abs(t - s) < window),
        "a token sees all that come after it": wrong(sees=lambda t, s, window: t - window < s),
        "a token sees those of its own block alone, not those of the block before": wrong(
            sees=lambda t, s, window: s <= t and s // window == t // window
        ),
        "a token sees all of its block and of the block before": wrong(
            sees=lambda t, s, window: s <= t and s // window >= t // window - 1
        ),
        "what stands before the first token counts, with keys of 0: hide it": wrong(before=zeros_before),
        "the first tokens see the last ones: nothing comes before the first": wrong(before=wrapped),
        "scores are not divided by sqrt(dim)": wrong(scale=lambda dim: 1.0),
        "softmax runs over the queries: the keys are dim=-1": wrong(over=-2),
        "hidden scores become 0, which still counts: fill in -inf": wrong(fill=0.0),
        "the mask comes after the softmax: mask the scores before": wrong(late=True),
    },
    fine=[
        dtypes(torch.float64, torch.bfloat16, torch.float16, ulps=16),
        strides(),
        empties(),
        untouched(),
        values(
            inputs=lambda gen: {
                "one token": tokens(gen, 3, 2, 1, 1, 4),
                "300 tokens": tokens(gen, 7, 1, 2, 300, 2),
            },
            name="other_sizes",
            title="There may be a single token, and hundreds.",
        ),
        device(),
        errors(
            ValueError,
            lambda gen: {f"a window of {n}": tokens(gen, n, 1, 1, 3, 2) for n in (0, -1)},
            title="A window below 1 raises ValueError.",
        ),
        flat_cost(
            {
                "sequences": lambda n: given(*torch.ones(3, n, 2, 5, 2), 2),
                "heads": lambda n: given(*torch.ones(3, 1, n, 5, 2), 2),
                "tokens, and as long a window": lambda n: given(*torch.ones(3, 1, 2, 4 * n, 2), n),
            }
        ),
    ],
)


@pytest.mark.fine
def test_memory(answer, gen):
    """Memory grows with time times window, not with the square of time."""
    time = 4096
    for window in (8, 32):
        given = tokens(gen, window, 1, 1, time, 2)
        peak = peak_bytes(lambda g=given: answer.window_attention(*g.args, **g.kwargs))
        expect_that(
            peak < time * time,
            "window_attention(q, k, v, window) makes something of time * time numbers",
            yours=f"{peak} bytes of new memory for {time} tokens, window={window}",
            wanted=f"less than {time * time}: a byte for each pair of tokens",
            likely="the matrix of all scores, or a mask of its size",
        )
