"""What grades selective_scan: the recurrence, long sequences, gradients; rounds, half precision, empties."""

import pytest
import torch
from torch.nn import functional as F

from grader.checks import count_operations, expect_close, expect_equal, expect_that
from grader.checks.contract import Contract, device, dtypes, empties, given, strides, untouched, values


def add_by_delta(delta, A, B, x):
    return delta * B * x


def recurrence(
    *args, decay=lambda delta, A: (delta * A).exp(), added=add_by_delta, read="new", skip=True, begin=True
):
    """Token by token; what comes after the arguments is as people get it wrong."""
    x, delta, A, B, C, D, h = (*args, None)[:7]
    if h is None or not begin:
        h = (x[:, :0, :, None] * B[:, :0, None]).sum(1)
    found = []
    for t in range(x.shape[1]):
        step, old = delta[:, t, :, None], h
        h = decay(step, A) * h + added(step, A, B[:, t, None], x[:, t, :, None])
        y = ((old if read == "old" else h) * C[:, t, None]).sum(-1)
        found.append(y + D * x[:, t] if skip else y)
    return torch.stack(found, 1) if found else x + 0, h


def wrong(**how):
    return lambda *given, **options: recurrence(*given, *options.values(), **how)


def by_name(*args, h=None):
    return recurrence(*args, h)


def with_other(change):
    """The arguments changed before the recurrence."""
    return lambda *given, h=None: recurrence(*change(*given), h)


def drawn(gen, batch, time, dim, state, *, slow=1.0):
    x, delta = torch.randn(2, batch, time, dim, generator=gen)
    delta = F.softplus(delta)
    A = -slow * (0.2 + torch.rand(dim, state, generator=gen))
    B, C = torch.randn(2, batch, time, state, generator=gen)
    return x, delta, A, B, C, 0.5 + torch.rand(dim, generator=gen)


def begun(gen, batch, dim, state):
    return 3 * torch.randn(batch, dim, state, generator=gen)


def sequences(gen):
    return {
        "one sequence": given(*drawn(gen, 1, 6, 3, 2)),
        "three sequences": given(*drawn(gen, 3, 5, 4, 2)),
        "as many channels as numbers in the state": given(*drawn(gen, 2, 4, 4, 4)),
        "a longer sequence": given(*drawn(gen, 2, 19, 2, 3)),
        "one token": given(*drawn(gen, 2, 1, 3, 4)),
        "from another state": given(*drawn(gen, 2, 7, 3, 5), begun(gen, 2, 3, 5)),
        "one token, from another state": given(*drawn(gen, 2, 1, 3, 4), h=begun(gen, 2, 3, 4)),
    }


def long(gen):
    return {"300 tokens": given(*drawn(gen, 1, 300, 2, 3, slow=3.0))}


contract = Contract(
    "selective_scan(x, delta, A, B, C, D, h)",
    reference=by_name,
    inputs=sequences,
    gradient="x delta A B C D h",
    ulps=200,
    scale=8.0,
    dims=("batch time dim", "batch dim state"),
    suspects={
        "delta is left out where B * x is added": wrong(added=lambda delta, A, B, x: B * x),
        "B is left out": wrong(added=lambda delta, A, B, x: delta * x),
        "what is added is (exp(delta * A) - 1) / A * B * x: here it is delta * B * x": wrong(
            added=lambda delta, A, B, x: (delta * A).expm1() / A * B * x
        ),
        "the decay is 1 + delta * A: exp(delta * A) is asked for": wrong(
            decay=lambda delta, A: 1 + delta * A
        ),
        "the decay is exp(A): delta is left out": wrong(decay=lambda delta, A: A.exp()),
        "the decay is exp(-delta * A): A is negative already": wrong(
            decay=lambda delta, A: (-delta * A).exp()
        ),
        "A is taken for a logarithm, as the layer keeps it: it is negative already": wrong(
            decay=lambda delta, A: (-delta * A.exp()).exp()
        ),
        "softplus is taken of delta, which is a step size already": with_other(
            lambda x, delta, *more: (x, F.softplus(delta), *more)
        ),
        "D * x is left out": wrong(skip=False),
        "y is read from h as it was before the token": wrong(read="old"),
        "the scan begins at 0, whatever h is given": wrong(begin=False),
        "B and C are exchanged": with_other(lambda x, delta, A, B, C, D: (x, delta, A, C, B, D)),
    },
    job=[
        values(
            inputs=long,
            ulps=3000,
            name="long_sequences",
            title="A long sequence comes out right, where all decays multiplied are 0 in float32.",
            suspects={
                "divided by the product of all decays so far, which is 0 in float32": lambda *args: divided(
                    *args
                )
            },
        )
    ],
    fine=[
        dtypes(torch.float64, name="float64", title="float64 is computed in float64."),
        strides(),
        empties(
            inputs=lambda gen: {
                "no tokens": given(*drawn(gen, 2, 0, 3, 4)),
                "no tokens, from another state": given(*drawn(gen, 2, 0, 3, 4), begun(gen, 2, 3, 4)),
                "no sequences": given(*drawn(gen, 0, 5, 3, 4)),
            },
            title="Without tokens y is empty, and the last h is the first one; so does an empty batch work.",
        ),
        untouched(),
        device(),
    ],
)


def divided(x, delta, A, B, C, D):
    """As in float32, whatever comes in."""
    x, delta, A, B, C, D = (t.float() for t in (x, delta, A, B, C, D))
    product = (delta[..., None] * A).cumsum(1).exp()
    states = product * ((delta * x)[..., None] * B[:, :, None] / product).cumsum(1)
    return ((states * C[:, :, None]).sum(-1) + D * x).double(), states[:, -1].double()


@pytest.mark.fine
def test_rounds(answer, gen):
    """The number of operations grows with the logarithm of time."""
    few, many = (
        sum(count_operations(lambda n=n: answer.selective_scan(*drawn(gen, 1, n, 2, 2))).values())
        for n in (32, 1024)
    )
    told = "the cost of selective_scan(x, delta, A, B, C, D) grows with time"
    facts = {
        "yours": f"{few} operations for 32 tokens, {many} for 1024",
        "wanted": "about twice as many",
        "likely": "a loop over tokens: let each round join twice as many",
    }
    expect_that(many < 4 * few, told, **facts)


@pytest.mark.fine
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("mixed", [False, True], ids=["all", "mixed"])
def test_half_precision(answer, gen, kind, mixed):
    """Half precision is computed in float32: y is rounded once, the last h is not."""
    x, delta, A, B, C, D, h = *drawn(gen, 2, 60, 3, 4), begun(gen, 2, 3, 4)
    x, delta, B, C = (t.to(kind) for t in (x, delta, B, C))
    A, D, h = (A, D, h) if mixed else (t.to(kind) for t in (A, D, h))
    y, last = recurrence(*(t.double() for t in (x, delta, A, B, C, D, h)))
    mine, state = answer.selective_scan(x, delta, A, B, C, D, h)
    about = f"selective_scan(x, delta, A, B, C, D, h) in {kind}" + (
        " with A, D and h in float32" if mixed else ""
    )
    expect_equal(mine.dtype, kind, f"the dtype of y of {about}")
    half_a_step = 0.6 * torch.finfo(kind).eps / torch.finfo(torch.float64).eps
    expect_close(mine.double(), y, f"y of {about}", ulps=half_a_step, scale=0.5)
    expect_equal(state.dtype, torch.float32, f"the dtype of the last h of {about}")
    expect_close(state, last.float(), f"the last h of {about}", ulps=200, scale=8.0)
