"""What grades cross_attention: heads, padding, steps; padding alone, cost, dtypes, devices, errors."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from grader.checks import expect_close, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    layer,
    loads,
    registered,
    untouched,
    values,
)


def attention(
    state,
    x,
    memory,
    padding=None,
    heads=2,
    over=-1,
    wrong="",
    fill=-1e300,
    scale=lambda dim, heads: (dim / heads) ** -0.5,
    hides=lambda padding: padding,
    **built,
):
    """Head by head; `over` to `hides` are as people get it wrong, `built` is what else the layer is given."""
    q, k, v = (
        given @ state[f"{part}.weight"].mT
        for given, part in ((x, "query"), (memory, "key"), (memory, "value"))
    )
    hidden = torch.zeros(len(x), x.shape[1], memory.shape[1], dtype=torch.bool)
    if padding is not None:
        hidden = hidden | hides(padding).unsqueeze(1)
    if wrong == "causal":
        hidden = hidden | torch.ones(hidden.shape[1:], dtype=torch.bool).triu(1)
    parts, gathered = [t.chunk(heads, -1) for t in (q, k, v)], []
    if "split" in wrong:
        parts = [t.reshape(len(t), heads, t.shape[1], -1).unbind(1) for t in (q, k, v)]
    for q, k, v in zip(*parts, strict=True):
        scores = scale(x.shape[-1], heads) * q @ k.mT
        if wrong == "late":
            weights = scores.softmax(over).masked_fill(hidden, 0.0)
        else:
            weights = scores.masked_fill(hidden, fill).softmax(over)
            weights = weights.masked_fill(hidden, 0.0) if fill else weights
        gathered.append(weights @ v)
    merged = torch.stack(gathered, 1).reshape(x.shape) if "merge" in wrong else torch.cat(gathered, -1)
    return merged if wrong == "out" else merged @ state["out.weight"].mT


def wrong(**how):
    return lambda *given, **options: attention(*given, **{**options, **how})


def sizes(dim, memory_dim):
    widths = {"query": dim, "key": memory_dim, "value": memory_dim, "out": dim}
    return {f"{part}.weight": (dim, width) for part, width in widths.items()}


def reading(gen, batch, time, keys, dim, memory_dim, heads=2, padding=None):
    """A call of a layer whose weights keep scores small, so that rounding is not enlarged."""
    state = {
        name: torch.randn(size, generator=gen) / size[1] ** 0.5
        for name, size in sizes(dim, memory_dim).items()
    }
    x, memory = (torch.randn(batch, *size, generator=gen) for size in ((time, dim), (keys, memory_dim)))
    return layer(dim, memory_dim, heads, state=state)(x, memory, *[] if padding is None else [padding])


def padded(gen):
    def hiding(batch, *given, **options):
        padding = torch.rand(batch, given[1], generator=gen) < 0.4
        padding[:, 0], padding[:, 1] = False, True
        return reading(gen, batch, *given, padding=padding, **options)

    return {
        "padding": hiding(2, 3, 5, 6, 4),
        "as much of everything, with padding": hiding(4, 4, 4, 8, 8, heads=4),
    }


def plain(gen):
    return {
        "two heads": reading(gen, 2, 3, 5, 6, 4),
        "three heads, a memory of the same width": reading(gen, 3, 5, 4, 6, 6, heads=3),
        "one head": reading(gen, 2, 4, 3, 4, 7, heads=1),
        "one query": reading(gen, 3, 1, 6, 8, 5, heads=4),
    }


def built(gen):
    return [layer(6, 4, 3, state={name: torch.zeros(size) for name, size in sizes(6, 4).items()})]


SUSPECTS = {
    "there is a causal mask": wrong(wrong="causal"),
    "scores are divided by sqrt(dim), not by sqrt(dim / heads)": wrong(scale=lambda dim, heads: dim**-0.5),
    "scores are not divided by sqrt(dim / heads)": wrong(scale=lambda dim, heads: 1.0),
    "softmax runs over the queries: the memory's tokens are dim=-1": wrong(over=-2),
    "heads are split by a reshape alone: unflatten the features, then transpose": wrong(wrong="split"),
    "heads are merged by a reshape alone: transpose heads and time back before": wrong(wrong="merge"),
    "heads are split and merged by a view alone: transpose time and heads, before and after": wrong(
        wrong="split, merge"
    ),
    "heads has no effect: all features are one head": wrong(heads=1),
    "`out` has no effect": wrong(wrong="out"),
    "hidden scores become 0, which still counts: fill in the lowest number": wrong(fill=0.0),
    "the mask comes after the softmax: mask the scores before": wrong(wrong="late"),
    "padding has no effect": wrong(hides=torch.zeros_like),
    "True marks the real tokens here: it marks padding": wrong(hides=torch.logical_not),
}

contract = Contract(
    "CrossAttention(dim, memory_dim, heads)(x, memory, padding)",
    reference=attention,
    inputs=lambda gen: plain(gen) | padded(gen),
    gradient="x memory state",
    dims="batch time dim",
    ulps=200,
    scale=4.0,
    suspects=SUSPECTS,
    job=[registered(inputs=built), loads()],
    fine=[
        values(
            inputs=lambda gen: {
                "a memory of one token": reading(gen, 2, 3, 1, 4, 5),
                "a long memory": reading(gen, 1, 2, 300, 4, 3),
            },
            name="other_sizes",
            title="A memory may have one token, or hundreds.",
        ),
        empties(
            inputs=lambda gen: [reading(gen, 0, 3, 5, 6, 4), reading(gen, 2, 0, 5, 6, 4)],
            title="No sequences, and no queries, give an empty result.",
        ),
        dtypes(
            *(torch.float16, torch.bfloat16),
            inputs=padded,
            ulps=16,
            name="half_precision",
            title="A layer that is cast to half precision works in it.",
        ),
        dtypes(torch.float64, name="float64", title="A layer that is cast to float64 works in it."),
        untouched(inputs=padded),
        device(inputs=padded),
        errors(
            ValueError,
            lambda gen: [layer(6, 3, 4), layer(4, 4, 8)],
            name="bad_heads",
            title="Heads that do not divide dim raise ValueError.",
        ),
        errors(
            (ValueError, RuntimeError),
            lambda gen: {
                f"a memory of (2, 3, 4) and padding of {shape}": layer(4, 4, 2)(
                    torch.ones(2, 5, 4), torch.ones(2, 3, 4), torch.zeros(shape, dtype=torch.bool)
                )
                for shape in [(3,), (1, 3), (2, 1), (2, 5)]
            },
            name="bad_padding",
            title="Padding of another shape raises ValueError, also one that would broadcast.",
        ),
        flat_cost(
            {
                "sequences": lambda n: layer(4, 3, 2)(torch.ones(n, 3, 4), torch.ones(n, 2, 3)),
                "queries": lambda n: layer(4, 3, 2)(torch.ones(2, n, 4), torch.ones(2, 3, 3)),
                "heads": lambda n: layer(2 * n, 3, n)(torch.ones(2, 3, 2 * n), torch.ones(2, 3, 3)),
            }
        ),
    ],
)


def test_steps(answer, gen):
    """Projected once, two memories in turn give each query what they give at once."""
    for call in padded(gen).values():
        attend, (x, memory, padding) = contract.layer(answer, call), call.args
        heads, state = call.layer.args[2], {n: t.double() for n, t in call.layer.state.items()}
        other = torch.randn(memory.shape, generator=gen)

        def wanted(of, x=x, padding=padding, state=state, heads=heads):
            return attention(state, x.double(), of.double(), padding, heads).float()

        projected = [attend.project(memory), attend.project(other)]
        steps = [[attend.attend(part, p, padding).detach() for p in projected] for part in x.split(1, 1)]
        for yours, mine, theirs in zip(
            zip(*steps, strict=True), (memory, other), (other, memory), strict=True
        ):
            suspects = {
                "another memory is used, the last one that was projected?": lambda of=theirs: wanted(of)
            }
            told = "attend(x[:, [t]], projected, padding) for each t, with two memories in turn"
            result = torch.cat(yours, 1)
            expect_close(
                result, wanted(mine), told, dims="batch time dim", ulps=200, scale=4.0, suspects=suspects
            )


@pytest.mark.fine
def test_nothing_to_see(answer, gen):
    """Where all of a memory is padding, the result is 0, and no gradient is NaN."""
    padding = torch.tensor([[False, True, False], [True, True, True]])
    call = reading(gen, 2, 4, 3, 6, 5, padding=padding)
    attend, (x, memory, _) = contract.layer(answer, call), call.args
    x.requires_grad_(), memory.requires_grad_()
    result = attend(x, memory, padding)
    told = "layer(x, memory, padding)[1] is not 0, where all of memory[1] is padding"
    expect_that(bool((result[1] == 0).all()), told, yours=result[1].detach())
    result.sum().backward()
    named = [("x", x), ("memory", memory), *attend.named_parameters()]
    torn = [name for name, p in named if p.grad.isnan().any()]
    expect_that(not torn, "gradients are NaN, with a memory of padding alone", yours=", ".join(torn))


@pytest.mark.fine
def test_projected_once(answer, gen):
    """attend computes no keys and values again."""
    call = reading(gen, 1, 1, 200, 8, 64)
    attend, (x, memory) = contract.layer(answer, call), call.args
    counts = []
    with torch.no_grad():
        projected = attend.project(memory)
        for run in (lambda: attend.attend(x, projected), lambda: attend(x, memory)):
            with FlopCounterMode(display=False) as counter:
                run()
            counts.append(counter.get_total_flops())
    told = "attend(x, projected) computes keys and values again"
    share = f"{counts[0] / counts[1]:.0%} of what layer(x, memory) computes, for one query and 200 keys"
    expect_that(counts[0] < counts[1] / 4, told, yours=share, wanted="about 2 %")
