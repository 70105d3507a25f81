"""What the README of half_and_half promises of a run."""

import math

import torch

from grader.checks import expect_that


def test_run(answer):
    """In 100 steps no loss is NaN, ten updates at most are skipped, and the accuracy is 0.95 or more."""
    before = torch.get_rng_state()
    try:
        model, history = answer.train.train(100, say=lambda line: None)
    finally:
        torch.set_rng_state(before)
    bad = [step for step, (loss, _) in enumerate(history) if not math.isfinite(loss)]
    expect_that(not bad, f"the loss is not finite in {len(bad)} of 100 steps", first_of_them=bad[:1])
    skipped = [step for step, (_, taken) in enumerate(history) if not taken]
    what = f"{len(skipped)} of 100 updates are skipped, where ten at most are to be"
    expect_that(len(skipped) <= 10, what, first_of_them=skipped[:12])
    yours = answer.train.accuracy(model, answer.data.make(1000, seed=2, gaps=500))
    expect_that(yours >= 0.95, "the accuracy is low", yours=round(yours, 3), wanted="0.95 or more")
