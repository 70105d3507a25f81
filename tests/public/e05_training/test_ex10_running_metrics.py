"""The contract of running_metrics."""

import torch

from grader.checks import expect_equal, expect_raises


def worked_example(answer):
    metrics = answer.RunningMetrics(classes=3)
    first = torch.tensor([[0.3, 0.2, 0.1], [0.1, 0.5, 0.2], [0.9, 0.1, 0.0]])
    metrics.update(first, torch.tensor([0, 1, 0]))
    metrics.update(torch.tensor([[0.0, 2.0, 1.0]]), torch.tensor([2]))
    return metrics.compute()


def test_worked_example(answer):
    """The worked example of the statement comes out: accuracy 0.75, loss 0.977, macro-F1 0.5556."""
    result = worked_example(answer)
    expect_equal(sorted(result), ["accuracy", "loss", "macro_f1"], "the keys of metrics.compute()")
    rounded = {name: round(value, 4) for name, value in result.items()}
    wanted = {"accuracy": 0.75, "loss": 0.977, "macro_f1": 0.5556}
    expect_equal(rounded, wanted, "metrics.compute(), rounded,")


def test_plain_floats(answer):
    """The results are plain floats."""
    for name, value in worked_example(answer).items():
        expect_equal(type(value).__name__, "float", f"the type of metrics.compute()[{name!r}]")


def test_nothing_counted(answer):
    """Without examples, compute raises ValueError."""
    expect_raises(
        ValueError, lambda: answer.RunningMetrics(classes=3).compute(), "RunningMetrics(3).compute()"
    )
