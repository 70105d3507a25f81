"""What grades warmup_cosine: the curve, the schedule on real optimizers; corners, bad numbers."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from grader.checks import expect_close, expect_equal, expect_raises, expect_that


def factor(step, warmup, total, floor=0.0):
    if step >= total:
        return floor
    if step < warmup:
        return (step + 1) / warmup
    return floor + (1 - floor) * (0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (total - warmup)))


def tensor(values):
    return torch.tensor([float(value) for value in values])


def mistakes(steps, warmup, total, floor):
    """What people get wrong in the curve, and what it gives."""

    def curve(up=lambda n: (n + 1) / warmup, down=lambda n: factor(n, warmup, total, floor)):
        return lambda: tensor(up(n) if n < warmup else down(n) if n < total else floor for n in steps)

    cosine = lambda share: (1 + math.cos(math.pi * share)) / 2  # noqa: E731
    share = lambda n: (n - warmup) / (total - warmup)  # noqa: E731
    return {
        "the warm-up begins at 0: its first factor is 1 / warmup": curve(up=lambda n: n / warmup),
        "the warm-up never reaches 1: divide by warmup": curve(up=lambda n: (n + 1) / (warmup + 1)),
        "the cosine runs over all steps, the warm-up included": curve(
            down=lambda n: floor + (1 - floor) * cosine(n / total)
        ),
        "it is a line, not half a cosine": curve(down=lambda n: floor + (1 - floor) * (1 - share(n))),
        "the floor is ignored": curve(down=lambda n: cosine(share(n))),
        "the floor cuts the cosine off: it ends there": curve(down=lambda n: max(floor, cosine(share(n)))),
        "the cosine is one step ahead": curve(down=lambda n: factor(n + 1, warmup, total, floor)),
    }


def expect_curve(answer, warmup, total, floor):
    steps = range(total + 3)
    yours = tensor(answer.warmup_cosine(step, warmup, total, floor) for step in steps)
    wanted = tensor(factor(step, warmup, total, floor) for step in steps)
    call = f"the factors for steps 0 to {total + 2} with warmup={warmup}, total={total}, floor={floor}"
    suspects = mistakes(steps, warmup, total, floor) if 0 < warmup < total else None
    expect_close(yours, wanted, call, scale=4.0, suspects=suspects)


def optimizer_of(*rates):
    return torch.optim.SGD([{"params": [nn.Parameter(torch.ones(2))], "lr": rate} for rate in rates], lr=9.0)


def expect_rates(optimizer, base, share, when):
    for number, (group, rate) in enumerate(zip(optimizer.param_groups, base, strict=True)):
        close = math.isclose(float(group["lr"]), rate * share, rel_tol=1e-6, abs_tol=1e-9)
        told = f"wrong learning rate of group {number} {when}: it was made with {rate}"
        expect_that(
            close, told, yours=float(group["lr"]), wanted=f"{rate} · {share:.4g} = {rate * share:.4g}"
        )


@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_curve(answer, floor):
    """Every step has its factor: up in a line to 1, down along half a cosine to the floor, which stays."""
    for warmup, total in [(3, 10), (5, 7), (2, 17)]:
        expect_curve(answer, warmup, total, floor)
    late = float(answer.warmup_cosine(30, 4, 10, floor))
    told = f"the factor at step 30 of 10 is not the floor, {floor}"
    expect_that(math.isclose(late, floor, abs_tol=1e-9), told, yours=late)


def test_groups(answer):
    """Each group keeps to its own learning rate; all follow the curve from step 0 on."""
    base = [0.5, 0.02, 3.0]
    optimizer = optimizer_of(*base)
    schedule = answer.warmup_cosine_schedule(optimizer, 3, 9, 0.1)
    expect_that(isinstance(schedule, LambdaLR), "the schedule is no LambdaLR", yours=schedule)
    for step in range(11):
        expect_rates(optimizer, base, factor(step, 3, 9, 0.1), f"at step {step}")
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
        expect_rates(again, base, factor(step, 3, 10, 0.2), f"at step {step}, resumed at step 5")
        again.step()
        resumed.step()


@pytest.mark.fine
@pytest.mark.parametrize(("warmup", "total", "floor"), [(0, 7, 0.1), (5, 5, 0.25), (1, 1, 0.0), (0, 0, 0.3)])
def test_corners(answer, warmup, total, floor):
    """There may be no warm-up, no cosine, or no steps at all."""
    expect_curve(answer, warmup, total, floor)


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


def oracle(answer, gen):
    def curve(most):
        warmup = 2 + int(torch.randint(0, 5, (), generator=gen))
        total = warmup + 2 + int(torch.randint(0, 8, (), generator=gen))
        floor = most * float(torch.rand((), generator=gen))
        return lambda: tensor(answer.warmup_cosine(step, warmup, total, floor) for step in range(total + 3))

    rate, floor = torch.rand(2, generator=gen).tolist()

    def scheduled():
        optimizer, found = optimizer_of(rate, 2.0), []
        schedule = answer.warmup_cosine_schedule(optimizer, 2, 7, floor)
        for _ in range(9):
            found += [group["lr"] for group in optimizer.param_groups]
            optimizer.step()
            schedule.step()
        return tensor(found)

    return {
        "a curve with a floor": curve(0.5),
        "another curve with a floor": curve(1.0),
        "the learning rates of two groups": scheduled,
    }
