"""The worked example of Trainer, what is alive after a step, and the hooks."""

import gc
import math
import weakref

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that, hooks_of

BATCHES = [
    (torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0, 0.0], [6.0, 2.0]])),
    (torch.tensor([[2.0]]), torch.tensor([[4.0, 0.0]])),
]


def worked_example(answer):
    model = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU())
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[2.0], [-1.0]]))
    return model, answer.Trainer(model, F.mse_loss, torch.optim.SGD(model.parameters(), lr=0.0), window=2)


def test_worked_example(answer):
    """The report of the worked example comes out."""
    _, trainer = worked_example(answer)
    expect_equal([trainer.step(*batch) for batch in BATCHES], [1.0, 0.0], "what the steps return")
    report = trainer.report()
    expect_equal(sorted(report), ["activity", "losses", "samples", "smoothed"], "the names in report()")
    expect_equal(report["losses"], [1.0, 0.0], 'report()["losses"]')
    smoothed = report["smoothed"]
    right = type(smoothed) is float and math.isclose(smoothed, 0.9, rel_tol=1e-6)
    expect_that(right, 'wrong report()["smoothed"]', yours=smoothed, wanted=0.9)
    activity, watched = (
        report["activity"],
        'report()["activity"] has the model itself, which only holds the layers',
    )
    expect_that("" not in activity, watched, yours=activity)
    expect_equal(activity, {"0": 3.0, "1": 2.0}, 'report()["activity"]')
    expect_equal(len(report["samples"]), 2, 'the length of report()["samples"]')
    for row, wanted in zip(report["samples"], ([2.0, 0.0], [4.0, 0.0]), strict=True):
        expect_close(row, torch.tensor(wanted), 'a row of report()["samples"]')


def test_memory_does_not_climb(answer):
    """After a step the output of the model is not alive any more."""
    model, trainer = worked_example(answer)
    outputs = []
    model.register_forward_hook(lambda m, args, out: outputs.append(weakref.ref(out)))
    for number, batch in enumerate(BATCHES):
        trainer.step(*batch)
        gc.collect()
        alive = sum(ref() is not None for ref in outputs)
        likely = "a loss, an activity or a sample is kept with its graph: `item()`, or `detach()`"
        expect_that(not alive, f"{alive} outputs are alive after step {number}", wanted="none", likely=likely)


def test_steps_do_not_slow_down(answer):
    """The layers do not get more hooks from step to step."""
    model, trainer = worked_example(answer)
    counts = []
    for _ in range(3):
        trainer.step(*BATCHES[0])
        counts.append(sum(len(hooks_of(layer)) for layer in model.modules()))
    likely = "each step registers its hooks: remove them by their handles, or register once"
    expect_that(counts[2] <= counts[0], "the hooks grow in number", yours=str(counts), likely=likely)
