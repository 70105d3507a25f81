"""The worked example of running_metrics."""

import torch

from grader.checks import expect_equal, expect_number


def test_worked_example(answer):
    """The worked example of the statement comes out: accuracy 0.75, loss 0.977, macro-F1 0.5556."""
    metrics = answer.RunningMetrics(classes=3)
    first = torch.tensor([[0.3, 0.2, 0.1], [0.1, 0.5, 0.2], [0.9, 0.1, 0.0]])
    metrics.update(first, torch.tensor([0, 1, 0]))
    metrics.update(torch.tensor([[0.0, 2.0, 1.0]]), torch.tensor([2]))
    result = metrics.compute()
    expect_equal(sorted(result), ["accuracy", "loss", "macro_f1"], "the keys of metrics.compute()")
    means = {
        "accuracy": {"this is the mean of the two batches' accuracies": 0.5},
        "loss": {"this is the mean of the two batches' losses": 1.12052},
        "macro_f1": {"this is the accuracy (micro-F1): each class has an F1 of its own": 0.75},
    }
    for name, wanted in {"accuracy": 0.75, "loss": 0.97699, "macro_f1": 5 / 9}.items():
        suspects = {told: lambda value=value: value for told, value in means[name].items()}
        call = f"metrics.compute()[{name!r}] of the worked example"
        expect_number(result[name], wanted, call, rtol=1e-4, suspects=suspects)
