"""What grades warmup_cosine: the curve, the schedule on real optimizers; corners, bad numbers."""

import copy
import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from grader.checks import expect_equal, expect_raises, expect_that
from grader.checks.contract import Contract, given, values


def cosine(step, warmup, total, floor):
    if step >= total:
        return floor
    return floor + (1 - floor) * (0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (total - warmup)))


def line(step, warmup, total, floor):
    return floor + (1 - floor) * (1 - (step - warmup) / (total - warmup))


def factors(steps, warmup, total, floor, up=lambda step, warmup: (step + 1) / warmup, down=cosine):
    """Those of some steps, as a tensor; or with a mistake on the way up or down."""
    numbers = (warmup, total, floor)
    return torch.tensor(
        [floor if n >= total else up(n, warmup) if n < warmup else down(n, *numbers) for n in steps]
    )


def wrong(**how):
    return partial(factors, **how)


def drawn(gen, steps, with_floor=True):
    """A curve of its own, at the steps that `steps(warmup, total)` gives."""
    warmup = 2 + int(torch.randint(0, 5, (), generator=gen))
    total = warmup + 2 + int(torch.randint(0, 8, (), generator=gen))
    floor = round(torch.rand((), generator=gen).item(), 4)
    return given(steps(warmup, total), warmup, total, floor if with_floor else 0.0)


contract = Contract(
    "warmup_cosine(step, warmup, total, floor)",
    reference=factors,
    use=lambda answer, steps, *numbers: torch.tensor(
        [float(answer.warmup_cosine(step, *numbers)) for step in steps]
    ),
    inputs=lambda gen: {
        "the way up": drawn(gen, lambda warmup, total: range(warmup)),
        "the way down to 0": drawn(gen, range, with_floor=False),
        "the way down to a floor": drawn(gen, range),
        "the steps after the end": drawn(gen, lambda warmup, total: range(total, total + 9)),
    },
    scale=4.0,
    suspects={
        "the warm-up begins at 0: its first factor is 1 / warmup": wrong(up=lambda n, warmup: n / warmup),
        "the warm-up never reaches 1: divide by warmup": wrong(up=lambda n, warmup: (n + 1) / (warmup + 1)),
        "the cosine runs over all steps, the warm-up included": wrong(
            down=lambda n, warmup, total, floor: cosine(n, 0, total, floor)
        ),
        "it is a line, not half a cosine": wrong(down=line),
        "the floor is ignored": wrong(down=lambda n, warmup, total, floor: cosine(n, warmup, total, 0.0)),
        "the floor cuts the cosine off: it ends there": wrong(
            down=lambda n, warmup, total, floor: max(floor, cosine(n, warmup, total, 0.0))
        ),
        "the cosine is one step ahead": wrong(down=lambda n, *numbers: cosine(n + 1, *numbers)),
    },
    job=[values(title="Up in a line to 1, down along half a cosine, and then the floor.")],
    fine=[
        values(
            inputs=lambda gen: [
                given(range(numbers[1] + 3), *numbers)
                for numbers in [(0, 7, 0.1), (5, 5, 0.25), (1, 1, 0.0), (0, 0, 0.3)]
            ],
            name="corners",
            title="There may be no warm-up, no cosine, or no steps at all.",
        )
    ],
)


def optimizer_of(*rates):
    return torch.optim.SGD([{"params": [nn.Parameter(torch.ones(2))], "lr": rate} for rate in rates], lr=9.0)


def expect_rates(optimizer, base, share, when, likely=""):
    for number, (group, rate) in enumerate(zip(optimizer.param_groups, base, strict=True)):
        close = math.isclose(float(group["lr"]), rate * share, rel_tol=1e-6, abs_tol=1e-9)
        told = f"wrong learning rate of group {number} {when}: it was made with {rate}"
        wanted = f"{rate} · {share:.4g} = {rate * share:.4g}"
        expect_that(close, told, yours=float(group["lr"]), wanted=wanted, likely=likely)


def rates(answer, optimizer, *numbers):
    """The learning rates of two groups, step by step."""
    schedule, found = answer.warmup_cosine_schedule(optimizer, *numbers), []
    for _ in range(numbers[1]):
        found += [group["lr"] for group in optimizer.param_groups]
        optimizer.step()
        schedule.step()
    return torch.tensor(found)


def scheduled(gen, *floor):
    first, second = torch.rand(2, generator=gen).tolist()
    return given(optimizer_of(first, 2.0 + second), 2, 7, *floor)


schedules = Contract(
    "warmup_cosine_schedule(optimizer, warmup, total, floor)",
    use=rates,
    inputs=lambda gen: {
        "two groups": scheduled(gen),
        "two groups, with a floor": scheduled(gen, torch.rand((), generator=gen).item()),
    },
)
"""For the oracle: the checks of it are written out below."""


def test_groups(answer):
    """Each group keeps to its own learning rate; all follow warmup_cosine from step 0 on."""
    base = [0.5, 0.02, 3.0]
    optimizer = optimizer_of(*base)
    schedule = answer.warmup_cosine_schedule(optimizer, 3, 9, 0.1)
    expect_that(isinstance(schedule, LambdaLR), "the schedule is no LambdaLR", yours=schedule)
    for step in range(11):
        expect_rates(optimizer, base, answer.warmup_cosine(step, 3, 9, 0.1), f"at step {step}")
        optimizer.step()
        schedule.step()


def test_goes_on_after_loading(answer):
    """A new schedule that loads the old one's state goes on where that was."""
    base = [1.0, 0.3]
    optimizer = optimizer_of(*base)
    schedule = answer.warmup_cosine_schedule(optimizer, 3, 10, 0.2)
    for _ in range(5):
        optimizer.step()
        schedule.step()
    states = copy.deepcopy((optimizer.state_dict(), schedule.state_dict()))
    again = optimizer_of(*base)
    resumed = answer.warmup_cosine_schedule(again, 3, 10, 0.2)
    again.load_state_dict(states[0])
    resumed.load_state_dict(states[1])
    for step in range(5, 12):
        likely = (
            "the function counts by itself: take the step that LambdaLR hands over, and keeps in its state"
        )
        when = f"at step {step}, resumed at step 5"
        expect_rates(again, base, answer.warmup_cosine(step, 3, 10, 0.2), when, likely)
        again.step()
        resumed.step()


@pytest.mark.fine
def test_plain_float(answer):
    """The factor is a plain Python float at every step."""
    for step in (0, 4, 7, 9):
        call = f"the type of warmup_cosine({step}, warmup=4, total=8, floor=1)"
        expect_equal(type(answer.warmup_cosine(step, 4, 8, 1)).__name__, "float", call)


@pytest.mark.fine
@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ((-1, 2, 10, 0.0), "step < 0"),
        ((0, -1, 10, 0.0), "warmup < 0"),
        ((50, 11, 10, 0.0), "total < warmup"),
        ((0, 2, 10, -0.1), "floor < 0"),
        ((50, 2, 10, 1.5), "floor > 1"),
    ],
)
def test_bad_numbers(answer, numbers, why):
    """Numbers out of their range raise ValueError, whatever the step is, also when a schedule is made."""
    step, *others = numbers
    expect_raises(ValueError, lambda: answer.warmup_cosine(*numbers), f"warmup_cosine{numbers}, where {why},")
    if step >= 0:
        call = f"warmup_cosine_schedule(optimizer, *{tuple(others)}), where {why},"
        expect_raises(ValueError, lambda: answer.warmup_cosine_schedule(optimizer_of(0.1), *others), call)
