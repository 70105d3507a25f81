"""The worked example of early_stopping."""

from grader.checks import expect_equal

LOSSES = [1.0, 0.8, 0.75, 0.72, 0.5, 0.6, 0.7]


def test_worked_example(answer):
    """The worked example of the statement comes out: it stops at two losses without a gain."""
    stopping = answer.EarlyStopping(patience=2, min_delta=0.1)
    suspects = {
        "min_delta is ignored": lambda: [False] * 6 + [True],
        "it stops one value late: after `patience` values without a gain": lambda: [False] * 7,
        "a gain does not begin the count anew": lambda: [False, False, False, True, True, True, True],
    }
    found = [stopping.step(loss) for loss in LOSSES]
    expect_equal(
        found, [False, False, False, True, False, False, True], "step(loss) for the losses", suspects=suspects
    )
    expect_equal(stopping.best, 0.5, "stopping.best")
    suspects = {"epochs are counted from 1: here from 0": lambda: 5}
    expect_equal(stopping.best_epoch, 4, "stopping.best_epoch", suspects=suspects)
