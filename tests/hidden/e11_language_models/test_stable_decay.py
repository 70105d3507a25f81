"""What grades stable_decay: the curve in both shapes; corners, plain floats, bad numbers."""

import math
from functools import partial

import pytest
import torch

from grader.checks import expect_equal, expect_raises
from grader.checks.contract import Contract, given, values


def rates(
    steps,
    total,
    warmup,
    decay,
    peak=1.0,
    floor=0.0,
    shape="linear",
    up=lambda n, warmup: (n + 1) / warmup,
    start=lambda total, warmup, decay: total - decay,
    bent=math.sqrt,
    ahead=0,
    end=lambda peak, floor: floor,
    after=None,
    cut=False,
):
    """Those of some steps, as a tensor; what comes after `shape` is as people get it wrong."""
    found, begin = [], start(total, warmup, decay)
    for n in steps:
        if n < warmup:
            rate = peak * up(n, warmup)
        elif n < begin:
            rate = peak
        elif n >= total and after is None:
            rate = floor
        else:
            share = (n + ahead - begin) / (total - begin) if total > begin else 1.0
            share = max(0.0, share if after else min(share, 1.0))
            left = 1 - (bent(share) if shape == "sqrt" else share)
            low = end(peak, floor)
            rate = max(floor, peak * left) if cut else low + (peak - low) * left
        found.append(rate)
    return torch.tensor(found)


def wrong(**how):
    return partial(rates, **how)


def drawn(gen, steps, **more):
    """A curve of its own, at the steps that `steps(total, warmup, decay)` gives."""
    warmup, stay, decay = (least + int(torch.randint(0, 4, (), generator=gen)) for least in (2, 3, 7))
    low, high = torch.rand(2, generator=gen).tolist()
    total = warmup + stay + decay
    numbers = {"peak": 1.5 + high / 2, "floor": 0.5 + low / 2, **more}
    return given(steps(total, warmup, decay), total, warmup, decay, **numbers)


contract = Contract(
    "wsd(step, total, warmup, decay, peak, floor, shape)",
    reference=rates,
    use=lambda answer, steps, *numbers, **more: torch.tensor(
        [float(answer.wsd(n, *numbers, **more)) for n in steps]
    ),
    inputs=lambda gen: {
        "the way up": drawn(gen, lambda total, warmup, decay: range(warmup)),
        "the way to a floor in a line": drawn(gen, lambda total, warmup, decay: range(total + 4)),
        "the way to 0 along a root": drawn(
            gen, lambda total, warmup, decay: range(total + 4), floor=0.0, shape="sqrt"
        ),
        "the way to a floor along a root": drawn(
            gen, lambda total, warmup, decay: range(total + 4), shape="sqrt"
        ),
    },
    scale=8.0,
    suspects={
        "the warm-up begins at 0: its first rate is peak / warmup": wrong(up=lambda n, warmup: n / warmup),
        "the warm-up never reaches peak: divide by warmup": wrong(
            up=lambda n, warmup: (n + 1) / (warmup + 1)
        ),
        "the decay begins right behind the warm-up, not in the last `decay` steps": wrong(
            start=lambda total, warmup, decay: warmup
        ),
        "decay is counted from the end of the warm-up: the last `decay` steps of total are meant": wrong(
            start=lambda total, warmup, decay: warmup + decay
        ),
        "decay is taken for the step at which it begins": wrong(
            start=lambda total, warmup, decay: max(decay, warmup)
        ),
        "the decay is one step ahead: its first step is taken with peak": wrong(ahead=1),
        "the decay is one step late": wrong(ahead=-1),
        "sqrt(1 - share): 1 - sqrt(share) falls fast at first": wrong(
            bent=lambda share: 1 - math.sqrt(1 - share)
        ),
        "shape is ignored": wrong(bent=lambda share: share),
        "the floor is ignored before the end": wrong(end=lambda peak, floor: 0.0),
        "the floor cuts the decay off: it ends there": wrong(cut=True),
        "floor is taken for a part of peak: it is a rate itself": wrong(end=lambda peak, floor: peak * floor),
        "the rate goes on falling after the end": wrong(after=True),
    },
    job=[values(title="Up in a line, then peak, then down to floor in the last steps.")],
    fine=[
        values(
            inputs=lambda gen: [
                given(range(numbers[0] + 3), *numbers, 1.5, 0.25, shape)
                for numbers in [(9, 0, 4), (9, 3, 0), (7, 3, 4), (1, 1, 0), (1, 0, 1), (0, 0, 0)]
                for shape in ("linear", "sqrt")
            ],
            name="corners",
            title="There may be no warm-up, no decay, nothing between them, or no steps at all.",
        )
    ],
)


@pytest.mark.fine
def test_plain_float(answer):
    """The rate is a plain Python float at every step."""
    for step in (0, 3, 5, 7, 9):
        call = f"the type of wsd({step}, total=8, warmup=1, decay=3, peak=1, floor=1)"
        expect_equal(type(answer.wsd(step, 8, 1, 3, 1, 1)).__name__, "float", call)


@pytest.mark.fine
@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ((-1, 9, 2, 3), "step < 0"),
        ((4, 9, -1, 3), "warmup < 0"),
        ((4, 9, 2, -1), "decay < 0"),
        ((0, 9, 5, 5), "warmup + decay > total"),
        ((50, 9, 5, 5), "warmup + decay > total"),
        ((0, 9, 2, 3, 1.0, 0.0, "cosine"), 'shape is "cosine"'),
    ],
)
def test_bad_numbers(answer, numbers, why):
    """Numbers out of their range and unknown shapes raise ValueError, whatever the step is."""
    expect_raises(ValueError, lambda: answer.wsd(*numbers), f"wsd{numbers}, where {why},")
