"""The worked example of loss_spike_guard."""

import math

from grader.checks import expect_equal


def test_SpikeGuard_worked_example(answer):
    """Losses far above the median of the last three are spikes, and NaN."""
    guard = answer.SpikeGuard(window=3, factor=2.0)
    losses = [2.0, 9.0, 1.0, 5.0, math.nan, 1.5, 3.5]
    suspects = {
        "it is compared with the mean: the median is asked for": lambda: [True] * 4 + [False, True, True],
        "NaN is admitted: NaN > 4 is False": lambda: [True, True, True, False, True, True, False],
    }
    yours = [bool(guard.admits(loss)) for loss in losses]
    expect_equal(yours, [True, True, True, False, False, True, False], "admits(loss)", suspects=suspects)
