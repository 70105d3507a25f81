"""What grades window_and_sinks: windows, tokens that count, entries, positions; graphs, sizes, devices."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks import expect_that
from grader.checks.contract import Contract, device, errors, given, runs, untouched, values


class Reader(nn.Module):
    """A causal model, whose logits depend on all tokens of the window so far, and on their places."""

    def __init__(self, gen, vocab, context):
        super().__init__()
        drawn = lambda *shape: nn.Parameter(torch.randn(shape, generator=gen))  # noqa: E731
        self.tokens, self.places, self.head = drawn(vocab, 6), drawn(context, 6), drawn(6, vocab)
        self.dtype = None

    def forward(self, ids):
        time = ids.shape[1]
        if time > len(self.places):
            raise ValueError(f"the model takes {len(self.places)} tokens at once, not {time}")
        sums = (self.tokens[ids] + self.places[:time]).cumsum(1)
        logits = sums.tanh() @ self.head
        return logits if self.dtype is None else logits.to(self.dtype)


def scored(
    model, ids, context, stride, *, weigh=None, end=lambda counts, total: (total / counts).exp(), **how
):
    """Token by token, window by window; or with a mistake."""
    time, shift = ids.shape[1], how.get("shift", 1)
    stride, again = how.get("stride", stride), how.get("again", False)
    total, counts, known, means = 0.0, 0, set(), []
    for begin in range(0, time, stride):
        last = min(begin + context, time)
        if how.get("whole", False) and last - begin < context:
            break
        chances = model(ids[:, begin:last])[0].double().log_softmax(-1)
        wanted = [t for t in range(begin + shift, last) if again or t not in known]
        if begin and how.get("over_and_over", False) and not wanted:
            wanted = [*range(begin + 1, last)]
        known |= {*range(begin, last)}
        losses = [-chances[t - begin - shift, ids[0, t]] for t in wanted]
        if losses:
            means.append(torch.stack(losses).mean())
            weight = weigh(len(losses), begin, last) if weigh else len(losses)
            total, counts = total + means[-1] * weight, counts + weight
        if last == time and not how.get("over_and_over", False):
            break
    if how.get("means", False):
        return torch.stack(means).mean().exp()
    return end(counts, total)


def chunks(model, ids, context, stride):
    return scored(model, ids, context, context)


def by_text(model, ids, context, stride):
    """Divided by all tokens, the first included."""
    weigh = lambda count, begin, last: count + (begin == 0)  # noqa: E731
    return scored(model, ids, context, stride, weigh=weigh)


def number(answer, *args):
    """The perplexity as a tensor, whether it is a float or one already."""
    found = answer.perplexity(*args)
    if isinstance(found, torch.Tensor):
        found = found.detach()
    return torch.as_tensor(found, dtype=torch.float32)


def text(gen, time, context, stride, dtype=None):
    model = Reader(gen, 7, context)
    model.dtype = dtype
    return given(model, torch.randint(7, (1, time), generator=gen), context, stride)


perplexity = Contract(
    "perplexity(model, ids, context, stride)",
    reference=scored,
    use=number,
    ulps=200,
    inputs=lambda gen: {
        "windows that overlap by half": text(gen, 20, 6, 3),
        "windows that overlap by a token": text(gen, 21, 5, 4),
        "a stride of 1": text(gen, 11, 4, 1),
        "a rest at the end": text(gen, 18, 7, 4),
        "windows that end where the text does": text(gen, 16, 8, 4),
        "a text shorter than the context": text(gen, 6, 9, 2),
    },
    suspects={
        "tokens in the overlap count more than once": partial(scored, again=True),
        "windows lie side by side: they begin a stride apart": chunks,
        "the last tokens count again: the first window that reaches the end is the last": partial(
            scored, over_and_over=True
        ),
        "the windows' means are averaged: each token weighs the same": partial(scored, means=True),
        "each window weighs one token too few: only the first has a token that does not count": partial(
            scored, weigh=lambda count, begin, last: count - (begin > 0)
        ),
        "the text's first token is in the mean: none before it tells it": by_text,
        "the rest at the end is left out: the last window may be shorter": partial(scored, whole=True),
        "logits and tokens are not shifted: the logits at t are about token t + 1": partial(scored, shift=0),
        "it is the mean of the logarithms: exp is missing": partial(
            scored, end=lambda counts, total: total / counts
        ),
    },
    fine=[
        values(
            inputs=lambda gen: {
                f"logits in {dtype}": text(gen, 30, 6, 3, dtype) for dtype in (torch.bfloat16, torch.float16)
            },
            ulps=4000,
            name="half_precision",
            title="Logits of half precision are computed in float32.",
        ),
        runs(inputs=lambda gen: [text(gen, 20, 6, 3)], model=6),
        errors(
            ValueError,
            lambda gen: [text(gen, *sizes) for sizes in [(9, 4, 4), (9, 4, 5), (1, 4, 2), (0, 4, 2)]],
            title="A stride that is not below context, and less than two tokens, raise ValueError.",
        ),
    ],
)


@pytest.mark.fine
@pytest.mark.of("perplexity")
def test_no_graph(answer, gen):
    """The model runs under no_grad."""
    _, ids, context, stride = text(gen, 9, 4, 2).args
    model, recorded = Reader(gen, 7, 4), []

    def watched(ids):
        logits = model(ids)
        recorded.append(logits.requires_grad)
        return logits

    answer.perplexity(watched, ids, context, stride)
    expect_that(not any(recorded), "the model records a graph for each window", wanted="torch.no_grad()")


def kept(keys, values, sinks, window, *, choose=None, place=None):
    """Entry by entry; or with a mistake."""
    time = keys.shape[2]
    mine = (
        choose(time, sinks, window) if choose else [t for t in range(time) if t < sinks or t >= time - window]
    )
    positions = place(mine, time) if place else [*range(len(mine))]
    return keys[:, :, mine], values[:, :, mine], torch.tensor(positions, dtype=torch.int64)


def cache(gen, time, sinks, window, batch=2, heads=3):
    keys, values = torch.randn(2, batch, heads, time, 4, generator=gen)
    return given(keys, values, sinks, window)


def twice(time, sinks, window):
    return [*range(min(sinks, time)), *range(max(time - window, 0), time)]


keep = Contract(
    "keep(keys, values, sinks, window)",
    reference=kept,
    dims=("batch head entry feature", "batch head entry feature", "entry"),
    inputs=lambda gen: {
        "a long cache": cache(gen, 13, 4, 5),
        "as many entries as heads": cache(gen, 6, 1, 3, heads=6),
        "one entry too many": cache(gen, 8, 2, 5),
        "a cache that just fits": cache(gen, 7, 3, 4),
        "a cache with room left": cache(gen, 5, 2, 9),
        "sinks that lie in the window": cache(gen, 6, 3, 5),
    },
    suspects={
        "entries of the middle stay twice, or sinks do: where all fit, each stays once": partial(
            kept, choose=twice
        ),
        "the sinks are gone: the first entries stay": partial(
            kept, choose=lambda time, sinks, window: [*range(max(time - window, 0), time)]
        ),
        "the sinks count among the window: they come beside it": partial(
            kept,
            choose=lambda time, sinks, window: [
                t for t in range(time) if t < sinks or t >= time - window + sinks
            ],
        ),
        "positions are those of the text: they count within the cache": partial(
            kept, place=lambda mine, time: mine
        ),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "no window": cache(gen, 6, 2, 0),
                "no sinks": cache(gen, 6, 0, 4),
                "neither": cache(gen, 3, 0, 0),
                "an empty cache": cache(gen, 0, 2, 3),
            },
            suspects={
                "where window is 0 all stay: -0 is the beginning": partial(
                    kept,
                    choose=lambda time, sinks, window: [
                        *range(min(sinks, time)),
                        *range(time - window if window else 0, time),
                    ],
                )
            },
            name="no_window",
            title="sinks or window may be 0, and the cache may be empty.",
        ),
        untouched(),
        device(),
    ],
)
