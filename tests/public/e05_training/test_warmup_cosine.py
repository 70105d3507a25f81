"""The contract of warmup_cosine."""

import torch

from grader.checks import expect_equal, expect_that

CURVE = [0.25, 0.5, 0.75, 1.0, 1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
MISTAKES = {
    "the warm-up begins at 0: its first factor is 1 / warmup": [0.0, 0.25, 0.5, 0.75, *CURVE[4:]],
    "the warm-up never reaches 1: divide by warmup": [0.2, 0.4, 0.6, 0.8, *CURVE[4:]],
    "the cosine runs over all steps, the warm-up included": [*CURVE[:4], 0.5, 0.309, 0.146, 0.038, 0.0, 0.0],
    "it is a line, not half a cosine": [*CURVE[:5], 0.75, 0.5, 0.25, 0.0, 0.0],
    "the cosine rises again after its end": [*CURVE[:9], 0.146],
}


def test_worked_example(answer):
    """The worked example of the statement comes out: four steps up, half a cosine down to 0."""
    yours = [round(float(answer.warmup_cosine(step, warmup=4, total=8)), 3) for step in range(10)]
    likely = next((mistake for mistake, curve in MISTAKES.items() if curve == yours), "")
    told = "wrong factors from warmup_cosine(step, warmup=4, total=8) for the steps 0 to 9"
    expect_that(yours == CURVE, told, yours=yours, wanted=CURVE, likely=likely)


def test_schedule(answer):
    """The schedule moves the learning rate of the optimizer along the curve."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=2.0)
    schedule = answer.warmup_cosine_schedule(optimizer, warmup=4, total=8)
    for step, factor in enumerate(CURVE[:8]):
        rate = round(float(optimizer.param_groups[0]["lr"]) / 2, 3)
        suspects = {
            "the factor is taken for the rate: LambdaLR multiplies the rate by it": lambda f=factor: round(
                f / 2, 3
            ),
            "the schedule is one step ahead": lambda step=step: CURVE[step + 1],
        }
        expect_equal(rate, factor, f"lr / 2 at step {step}, rounded,", suspects=suspects)
        optimizer.step()
        schedule.step()
