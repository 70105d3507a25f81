"""Answers to warmup_cosine that people write."""

from grader.authoring.specimen import Right, Wrong

END = "    if step >= total:  # first: total - warmup may be 0\n        return float(floor)\n"
UP = "        return (step + 1) / warmup\n"
SHARE = "    share = (step - warmup) / (total - warmup)  # 0 up to, but not including, 1\n"
LAST = "    return floor + (1 - floor) * (1 + math.cos(math.pi * share)) / 2\n"
SCHEDULE = "    return LambdaLR(optimizer, lambda step: warmup_cosine(step, warmup, total, floor))\n"
RANGE = "    if step < 0 or warmup < 0 or total < warmup:\n"

SPECIMENS = [
    Wrong(
        "does not compare warmup with a total of 0",
        edits=[(RANGE, "    if step < 0 or warmup < 0 or total < 0 or (total and total < warmup):\n")],
        check="test_bad_numbers",
        says="total < warmup",
    ),
    Wrong(
        "never quite 0 in the schedule",
        edits=[(SCHEDULE, SCHEDULE.replace("total, floor))", "total, floor) or 1e-12)"))],
        check="test_schedules_do_not_mix",
        says="after the end",
    ),
    Wrong(
        "starts at a learning rate of 0", edits=[(UP, "        return step / warmup\n")], check="test_curve"
    ),
    Wrong(
        "never reaches 1 in the warm-up",
        edits=[(UP, "        return (step + 1) / (warmup + 1)\n")],
        check="test_curve",
    ),
    Wrong(
        "warms up from the floor",
        edits=[(UP, "        return floor + (1 - floor) * (step + 1) / warmup\n")],
        check="test_curve",
    ),
    Wrong(
        "the cosine runs over all steps, warm-up included",
        edits=[(SHARE, "    share = step / total\n")],
        check="test_curve",
    ),
    Wrong(
        "a cosine that is one step late",
        edits=[(SHARE, "    share = (step - warmup + 1) / (total - warmup)\n")],
        check="test_curve",
    ),
    Wrong(
        "a line in place of the cosine",
        edits=[(LAST, "    return floor + (1 - floor) * (1 - share)\n")],
        check="test_curve",
    ),
    Wrong(
        "a floor that cuts the cosine off",
        edits=[(LAST, "    return max(floor, (1 + math.cos(math.pi * share)) / 2)\n")],
        check="test_curve",
    ),
    Wrong(
        "adds the floor to a whole cosine",
        edits=[(LAST, "    return floor + (1 + math.cos(math.pi * share)) / 2\n")],
        check="test_curve",
    ),
    Wrong(
        "ignores the floor",
        edits=[(LAST, "    return (1 + math.cos(math.pi * share)) / 2\n")],
        check="test_curve",
    ),
    Wrong(
        "a quarter of a cosine",
        edits=[(LAST, "    return floor + (1 - floor) * math.cos(math.pi / 2 * share)\n")],
        check="test_curve",
    ),
    Wrong(
        "the cosine rises again after the end",
        edits=[(END, "    if total == warmup and step >= total:\n        return float(floor)\n")],
        check="test_after_the_end",
    ),
    Wrong("0 after the end", edits=[("return float(floor)", "return 0.0")], check="test_after_the_end"),
    Wrong(
        "an int where the floor is one",
        edits=[("return float(floor)", "return floor")],
        check="test_after_the_end",
        says="float",
    ),
    Wrong(
        "divides by zero where warmup is total",
        edits=[(END, ""), (SHARE, "    share = min(1.0, (step - warmup) / (total - warmup))\n")],
        check="test_warmup_only",
    ),
    Wrong(
        "stays at 1 where warmup is total",
        edits=[(END, ""), (SHARE, "    share = min(1.0, (step - warmup) / max(1, total - warmup))\n")],
        check="test_warmup_only",
    ),
    Wrong(
        "divides by the warm-up first",
        edits=[
            (
                "    if step < warmup:\n" + UP,
                "    if (step + 1) / warmup <= 1:\n" + UP,
            )
        ],
        check="test_without_warmup",
    ),
    Wrong(
        "a warm-up of one step at least",
        edits=[(END, "    warmup = max(1, warmup)\n" + END)],
        check="test_without_warmup",
    ),
    Wrong(
        "rounds",
        edits=[(LAST, "    return round(floor + (1 - floor) * (1 + math.cos(math.pi * share)) / 2, 3)\n")],
        check="test_curve",
    ),
    Wrong(
        "a tensor",
        edits=[
            (LAST, "    return floor + (1 - floor) * (1 + torch.cos(torch.tensor(math.pi * share))) / 2\n")
        ],
        check="test_curve",
        says="float",
    ),
    Wrong(
        "a float32 cosine",
        edits=[
            (
                LAST,
                "    return floor + (1 - floor) * (1 + torch.cos(torch.tensor(math.pi * share)).item()) / 2\n",
            )
        ],
        check="test_curve",
        says="wrong factor",
    ),
    Wrong(
        "adds up all steps before",
        edits=[
            (
                SHARE + LAST,
                """    value = 1.0
    for past in range(warmup, step):
        value += (math.cos(math.pi * (past + 1 - warmup) / (total - warmup)) - math.cos(math.pi * (past - warmup) / (total - warmup))) / 2
        if past > 10**5:
            raise RuntimeError("this takes too long")
    return floor + (1 - floor) * value
""",
            )
        ],
        check="test_long_runs",
    ),
    Wrong(
        "counts its calls",
        edits=[
            ("\n\ndef warmup_cosine(", "\n\ncount = [0]\n\n\ndef warmup_cosine("),
            (END, "    count[0] += 1\n    step = max(step, 0) if count[0] < 40 else count[0]\n" + END),
        ],
        check="test_long_runs",
    ),
    Wrong(
        "remembers factors by step",
        edits=[
            ("\n\ndef warmup_cosine(", "\n\nknown: dict = {}\n\n\ndef warmup_cosine("),
            (
                LAST,
                "    return known.setdefault(step, floor + (1 - floor) * (1 + math.cos(math.pi * share)) / 2)\n",
            ),
        ],
        check="test_curve",
    ),
    Wrong(
        "no error for a negative step",
        edits=[("step < 0 or ", "")],
        check="test_bad_numbers",
        says="step < 0",
    ),
    Wrong(
        "no error for a negative warm-up",
        edits=[("warmup < 0 or ", "")],
        check="test_bad_numbers",
        says="warmup < 0",
    ),
    Wrong(
        "no error for a long warm-up",
        edits=[(" or total < warmup:", ":")],
        check="test_bad_numbers",
        says="total < warmup",
    ),
    Wrong(
        "no error for a floor of NaN",
        edits=[("    if not 0 <= floor <= 1:\n", "    if floor < 0 or floor > 1:\n")],
        check="test_bad_numbers",
        says="NaN",
    ),
    Wrong(
        "no error for a floor above 1",
        edits=[("    if not 0 <= floor <= 1:\n", "    if not floor >= 0:\n")],
        check="test_bad_numbers",
        says="floor > 1",
    ),
    Wrong(
        "an assert in place of ValueError",
        edits=[(RANGE, "    assert step >= 0\n" + RANGE)],
        check="test_bad_numbers",
    ),
    Wrong(
        "looks at the numbers after the end has been dealt with",
        edits=[(END, ""), (RANGE, END.replace("if step", "if step >= 0 and step") + RANGE)],
        check="test_bad_numbers",
    ),
    Wrong(
        "one learning rate for all groups",
        edits=[
            (
                SCHEDULE,
                """    for group in optimizer.param_groups:
        group["lr"] = optimizer.param_groups[0]["lr"]
"""
                + SCHEDULE,
            )
        ],
        check="test_groups",
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
        check="test_groups",
    ),
    Wrong(
        "the schedule forgets the floor",
        edits=[(SCHEDULE, SCHEDULE.replace(", floor)", ")"))],
        check="test_groups",
    ),
    Wrong(
        "the schedule is one step ahead",
        edits=[(SCHEDULE, SCHEDULE.replace("warmup_cosine(step,", "warmup_cosine(step + 1,"))],
        check="test_groups",
    ),
    Wrong(
        "the schedule has no floor argument of its own: the last made counts for all",
        edits=[
            ("\n\ndef warmup_cosine(", "\n\nsettings: dict = {}\n\n\ndef warmup_cosine("),
            (
                SCHEDULE,
                "    settings.update(warmup=warmup, total=total, floor=floor)\n    return LambdaLR(optimizer, lambda step: warmup_cosine(step, **settings))\n",
            ),
        ],
        check="test_schedules_do_not_mix",
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
        check="test_goes_on_after_loading",
    ),
    Wrong(
        "a step of the optimizer, to quieten a warning",
        edits=[(SCHEDULE, "    optimizer.step()\n" + SCHEDULE)],
        check="test_making_a_schedule_is_no_step",
    ),
    Wrong(
        "clears the gradients",
        edits=[(SCHEDULE, "    optimizer.zero_grad()\n" + SCHEDULE)],
        check="test_making_a_schedule_is_no_step",
    ),
    Wrong(
        "torch's own cosine",
        edits=[
            (
                SCHEDULE,
                "    warmup_cosine(0, warmup, total, floor)\n    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, total))\n",
            )
        ],
        check="test_groups",
    ),
    Right(
        "one formula with min and max, and a warning of its own",
        edits=[
            ("import math\n", "import math\nimport warnings\n"),
            (
                END + "    if step < warmup:\n" + UP + SHARE + LAST,
                """    warnings.warn("an experiment", stacklevel=2)
    if step < warmup:
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
    Wrong(
        "starts from the learning rate of the moment",
        edits=[
            (
                SCHEDULE,
                "    for group in optimizer.param_groups:\n        group['initial_lr'] = group['lr']\n"
                + SCHEDULE,
            )
        ],
        check="test_schedules_do_not_mix",
    ),
    Wrong(
        "a schedule of no steps is taken for one of one step",
        edits=[
            (
                SCHEDULE,
                "    warmup_cosine(0, warmup, total, floor)\n"
                + SCHEDULE.replace("warmup, total, floor", "warmup, max(1, total), floor"),
            )
        ],
        check="test_schedules_at_the_corners",
        says="at step 0",
    ),
]
