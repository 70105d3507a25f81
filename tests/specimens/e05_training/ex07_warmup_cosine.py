"""Answers to warmup_cosine that people write."""

from grader.authoring.specimen import Right, Works, Wrong

END = "    if step >= total:  # first: total - warmup may be 0\n        return float(floor)\n"
UP = "        return (step + 1) / warmup\n"
SHARE = "    share = (step - warmup) / (total - warmup)  # 0 up to, but not including, 1\n"
LAST = "    return floor + (1 - floor) * (1 + math.cos(math.pi * share)) / 2\n"
SCHEDULE = "    return LambdaLR(optimizer, lambda step: warmup_cosine(step, warmup, total, floor))\n"
RANGE = "    if step < 0 or warmup < 0 or total < warmup:\n"

SPECIMENS = [
    Wrong(
        "starts at a learning rate of 0",
        edits=[(UP, "        return step / warmup\n")],
        rung="job",
        check="test_curve",
        says="begins at 0",
    ),
    Wrong(
        "never reaches 1 in the warm-up",
        edits=[(UP, "        return (step + 1) / (warmup + 1)\n")],
        rung="job",
        check="test_curve",
        says="never reaches 1",
    ),
    Wrong(
        "the cosine runs over all steps, warm-up included",
        edits=[(SHARE, "    share = step / total\n")],
        rung="job",
        check="test_curve",
        says="over all steps",
    ),
    Wrong(
        "a cosine that is one step late",
        edits=[(SHARE, "    share = (step - warmup + 1) / (total - warmup)\n")],
        rung="job",
        check="test_curve",
        says="one step ahead",
    ),
    Wrong(
        "a line in place of the cosine",
        edits=[(LAST, "    return floor + (1 - floor) * (1 - share)\n")],
        rung="job",
        check="test_curve",
        says="a line",
    ),
    Wrong(
        "a floor that cuts the cosine off",
        edits=[(LAST, "    return max(floor, (1 + math.cos(math.pi * share)) / 2)\n")],
        rung="job",
        check="test_curve",
        says="cuts the cosine off",
    ),
    Wrong(
        "ignores the floor",
        edits=[(LAST, "    return (1 + math.cos(math.pi * share)) / 2\n")],
        rung="job",
        check="test_curve",
        says="the floor is ignored",
    ),
    Wrong(
        "the cosine rises again after the end",
        edits=[(END, "    if total == warmup and step >= total:\n        return float(floor)\n")],
        rung="job",
        check="test_curve",
    ),
    Wrong(
        "the factor is the learning rate",
        edits=[
            (
                SCHEDULE,
                """    for group in optimizer.param_groups:
        group["lr"] = 1.0
"""
                + SCHEDULE,
            )
        ],
        rung="job",
        check="test_groups",
        says="wrong learning rate",
    ),
    Wrong(
        "the schedule is one step ahead",
        edits=[(SCHEDULE, SCHEDULE.replace("warmup_cosine(step,", "warmup_cosine(step + 1,"))],
        rung="job",
        check="test_groups",
    ),
    Wrong(
        "the schedule counts by itself",
        edits=[
            (
                SCHEDULE,
                """    steps = iter(range(10**9))
    return LambdaLR(optimizer, [lambda _: warmup_cosine(next(steps) // len(optimizer.param_groups), warmup, total, floor)] * len(optimizer.param_groups))
""",
            )
        ],
        rung="job",
        check="test_goes_on_after_loading",
    ),
    Wrong(
        "an int where the floor is one",
        edits=[("return float(floor)", "return floor")],
        rung="fine",
        check="test_plain_float",
    ),
    Wrong(
        "divides by zero where warmup is total",
        edits=[(END, ""), (SHARE, "    share = min(1.0, (step - warmup) / (total - warmup))\n")],
        rung="fine",
        check="test_corners",
    ),
    Wrong(
        "no error for a long warm-up",
        edits=[(" or total < warmup:", ":")],
        rung="fine",
        check="test_bad_numbers",
        says="total < warmup",
    ),
    Wrong(
        "looks at the numbers after the end has been dealt with",
        edits=[(END, ""), (RANGE, END.replace("if step", "if step >= 0 and step") + RANGE)],
        rung="fine",
        check="test_bad_numbers",
    ),
    Works(
        "as nanoGPT has it, without a look at the numbers",
        code="""
import math
import torch


def warmup_cosine(it, warmup, total, floor=0.0):
    if it < warmup:
        return (it + 1) / warmup
    if it > total:
        return floor
    decay_ratio = (it - warmup) / (total - warmup)
    coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
    return floor + coeff * (1.0 - floor)


def warmup_cosine_schedule(optimizer, warmup, total, floor=0.0):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: warmup_cosine(step, warmup, total, floor))
""".replace("def warmup_cosine(it,", "def warmup_cosine(step,").replace(
            "    if it < warmup", "    it = step\n    if it < warmup"
        ),
    ),
    Works(
        "as Hugging Face has it, but for the first step",
        code="""
import math
from functools import partial

from torch.optim.lr_scheduler import LambdaLR


def warmup_cosine(step, warmup, total, floor=0.0):
    if step < warmup:
        return float(step + 1) / float(max(1, warmup))
    progress = float(step - warmup) / float(max(1, total - warmup))
    progress = min(progress, 1.0)
    return floor + (1 - floor) * max(0.0, 0.5 * (1.0 + math.cos(math.pi * progress)))


def warmup_cosine_schedule(optimizer, warmup, total, floor=0.0):
    return LambdaLR(optimizer, partial(warmup_cosine, warmup=warmup, total=total, floor=floor), -1)
""",
    ),
    Right(
        "one formula with min and max",
        edits=[
            (
                END + "    if step < warmup:\n" + UP + SHARE + LAST,
                """    if step < warmup:
        return min(step + 1, warmup) / warmup
    share = min(step - warmup, total - warmup) / (total - warmup) if step < total else 1.0
    return float(floor + 0.5 * (1.0 - floor) * (1.0 + math.cos(math.pi * share)))
""",
            ),
        ],
    ),
    Right(
        "a sine squared, and a partial",
        edits=[
            ("import math\n", "import functools\nimport math\n"),
            (LAST, "    return 1 - (1 - floor) * math.sin(math.pi * share / 2) ** 2\n"),
            (
                SCHEDULE,
                "    curve = functools.partial(warmup_cosine, warmup=warmup, total=total, floor=floor)\n    return LambdaLR(optimizer, [curve for _ in optimizer.param_groups])\n",
            ),
        ],
    ),
]
