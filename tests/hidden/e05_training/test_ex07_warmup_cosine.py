"""What grades warmup_cosine: the curve and its corners, bad numbers, and the schedule on real optimizers."""

import copy
import math
import warnings

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from grader.checks import count_steps, expect_equal, expect_raises, expect_that


def factor(step, warmup, total, floor):
    if step >= total:
        return floor
    if step < warmup:
        return (step + 1) / warmup
    return floor + (1 - floor) * (0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (total - warmup)))


def expect_number(yours, wanted, of):
    expect_equal(type(yours).__name__, "float", f"the type of {of}")
    close = math.isclose(yours, wanted, rel_tol=1e-9, abs_tol=1e-12)
    expect_that(close, f"wrong factor from {of}", yours=f"{yours!r}", wanted=f"{wanted!r}")


def expect_curve(answer, steps, warmup, total, floor):
    for step in steps:
        call = f"warmup_cosine({step}, warmup={warmup}, total={total}, floor={floor})"
        yours = answer.warmup_cosine(step, warmup, total, floor)
        expect_number(yours, factor(step, warmup, total, floor), call)


def optimizer_of(*rates, kind=torch.optim.SGD):
    return kind([{"params": [nn.Parameter(torch.ones(2))], "lr": rate} for rate in rates], lr=9.0)


def rates(optimizer):
    return [float(group["lr"]) for group in optimizer.param_groups]


def expect_rates(optimizer, base, share, when):
    for number, (yours, rate) in enumerate(zip(rates(optimizer), base, strict=True)):
        close = math.isclose(yours, rate * share, rel_tol=1e-9, abs_tol=1e-12)
        expect_that(close, f"wrong learning rate of group {number} {when}", yours=yours, wanted=rate * share)


@pytest.mark.parametrize("floor", [0.0, 0.2, 1.0])
def test_curve(answer, floor):
    """Every step has its factor: up in a line to 1, down along half a cosine to the floor."""
    for warmup, total in [(3, 10), (5, 6), (1, 4), (2, 17)]:
        expect_curve(answer, range(total + 3), warmup, total, floor)


def test_without_warmup(answer):
    """With warmup=0 the cosine begins at 1, at step 0."""
    for total in (1, 2, 7):
        expect_curve(answer, range(total + 2), 0, total, 0.1)


def test_warmup_only(answer):
    """With warmup=total there is no cosine: the floor follows the warm-up, and nothing divides by zero."""
    expect_curve(answer, range(7), 5, 5, 0.25)
    expect_curve(answer, range(3), 1, 1, 0.0)
    expect_curve(answer, range(3), 0, 0, 0.3)


def test_after_the_end(answer):
    """From total on the factor is exactly the floor; it does not rise again."""
    for floor in (0.0, 0.1, 0.7):
        for step in (10, 11, 14, 20, 30, 1000):
            expect_number(
                answer.warmup_cosine(step, 4, 10, floor), floor, f"warmup_cosine({step}, 4, 10, {floor})"
            )
            yours = answer.warmup_cosine(step, 4, 10, floor)
            expect_that(yours == floor, f"the factor at step {step} of 10 is not exactly the floor")
    expect_number(answer.warmup_cosine(5, 2, 5), 0.0, "warmup_cosine(5, 2, 5)")
    whole = answer.warmup_cosine(9, 4, 6, floor=1)
    expect_number(whole, 1.0, "warmup_cosine(9, 4, 6, floor=1)")


def test_long_runs(answer):
    """A step late in a long run costs what an early one does, in any order of asking."""
    total = 10**9
    steps = (total - 1, 5, 10**8, total // 2, 10**6 - 1, total + 1, 10**6, 5)
    expect_curve(answer, steps, 10**6, total, 0.05)
    cost = [count_steps(lambda n=n: answer.warmup_cosine(n, 10, 4 * n)) for n in (20, 400)]
    expect_that(abs(cost[1] - cost[0]) < 100, "the cost grows with the step", yours=f"{cost} Python steps")


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ((-1, 2, 10, 0.0), "step < 0"),
        ((0, -1, 10, 0.0), "warmup < 0"),
        ((0, 11, 10, 0.0), "total < warmup"),
        ((0, 0, -1, 0.0), "total < warmup"),
        ((0, 3, 0, 0.0), "total < warmup"),
        ((50, 11, 10, 0.0), "total < warmup"),
        ((0, 2, 10, -0.1), "floor < 0"),
        ((9, 2, 10, 1.5), "floor > 1"),
        ((50, 2, 10, 1.5), "floor > 1"),
        ((0, 2, 10, math.nan), "floor is NaN"),
    ],
)
def test_bad_numbers(answer, numbers, why):
    """Numbers out of their range raise ValueError, whatever the step is, also when a schedule is made."""
    step, *others = numbers
    expect_raises(ValueError, lambda: answer.warmup_cosine(*numbers), f"warmup_cosine{numbers}, where {why},")
    if step >= 0:
        call = f"warmup_cosine_schedule(optimizer, *{tuple(others)}), where {why},"
        expect_raises(ValueError, lambda: answer.warmup_cosine_schedule(optimizer_of(0.1), *others), call)


@pytest.mark.parametrize("numbers", [(0, 0, 0.3), (1, 1, 0.0), (3, 3, 0.25), (0, 1, 0.1), (0, 4, 0.0)])
def test_schedules_at_the_corners(answer, numbers):
    """A schedule follows the curve without a warm-up too, with nothing after it, and with total=0."""
    optimizer = optimizer_of(0.5, 2.0)
    schedule = answer.warmup_cosine_schedule(optimizer, *numbers)
    for step in range(6):
        call = f"warmup_cosine_schedule(optimizer, {', '.join(map(str, numbers))})"
        expect_rates(optimizer, [0.5, 2.0], factor(step, *numbers), f"at step {step} of {call}")
        optimizer.step()
        schedule.step()


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW], ids=["SGD", "AdamW"])
def test_groups(answer, kind):
    """Each group keeps to its own learning rate; all follow the curve from step 0 on."""
    base = [0.5, 0.02, 3.0]
    optimizer = optimizer_of(*base, kind=kind)
    schedule = answer.warmup_cosine_schedule(optimizer, 3, 9, 0.1)
    expect_that(isinstance(schedule, LambdaLR), "the schedule is no LambdaLR", yours=schedule)
    with warnings.catch_warnings():
        # torch warns where the optimizer and schedule step out of order; an answer may warn of what it likes
        warnings.filterwarnings("error", message=".*lr_scheduler")
        for step in range(12):
            expect_rates(optimizer, base, factor(step, 3, 9, 0.1), f"at step {step}")
            optimizer.step()
            schedule.step()


def test_making_a_schedule_is_no_step(answer):
    """Making a schedule moves no parameter and needs no gradient."""
    optimizer = optimizer_of(0.5)
    (p,) = optimizer.param_groups[0]["params"]
    p.grad = torch.ones(2)
    answer.warmup_cosine_schedule(optimizer, 2, 6)
    expect_equal(p.detach(), torch.ones(2), "the parameter after warmup_cosine_schedule(…)")
    expect_equal(p.grad, torch.ones(2), "its gradient after warmup_cosine_schedule(…)")
    optimizer.step()
    expect_equal(p.detach(), torch.full((2,), 0.75), "the parameter after one step with half of lr=0.5")


def test_schedules_do_not_mix(answer):
    """Two schedules with other numbers each follow their own curve."""
    one, other = optimizer_of(1.0), optimizer_of(2.0)
    first = answer.warmup_cosine_schedule(one, 2, 6)
    second = answer.warmup_cosine_schedule(other, 4, 12, floor=0.5)
    for step in range(8):
        expect_rates(one, [1.0], factor(step, 2, 6, 0.0), f"of the first optimizer at step {step}")
        expect_rates(other, [2.0], factor(step, 4, 12, 0.5), f"of the second optimizer at step {step}")
        for stepped in (one, other, first, second):
            stepped.step()
    rate = one.param_groups[0]["lr"]
    expect_equal(rate, 0.0, "the learning rate of the first optimizer after the end, with a floor of 0")
    answer.warmup_cosine_schedule(one, 4, 8)
    expect_rates(one, [1.0], factor(0, 4, 8, 0.0), "of an optimizer that gets a second schedule")


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
        expect_rates(again, base, factor(step, 3, 10, 0.2), f"at step {step}, resumed at step 5")
        again.step()
        resumed.step()


def oracle(answer, gen):
    results = []
    for _ in range(8):
        warmup = int(torch.randint(0, 6, (), generator=gen))
        total = warmup + int(torch.randint(0, 8, (), generator=gen))
        floor = float(torch.rand((), generator=gen))
        results.append([answer.warmup_cosine(step, warmup, total, floor) for step in range(total + 3)])
    optimizer = optimizer_of(0.5, 2.0)
    schedule = answer.warmup_cosine_schedule(optimizer, 2, 7, 0.1)
    for _ in range(9):
        results.append(rates(optimizer))
        optimizer.step()
        schedule.step()
    return results
