"""The worked example of running_metrics."""

import torch

from grader.checks import expect_equal, expect_number, expect_that


def test_worked_example(answer):
    """The worked example of the statement comes out: accuracy 0.5, loss 0.8576, macro-F1 0.2667."""
    metrics = answer.RunningMetrics(classes=3)
    first = torch.tensor([[0.3, 0.2, 0.1], [0.0, 1.5, 0.2], [0.9, 0.1, 0.0]])
    metrics.update(first, torch.tensor([1, 1, 2]))
    metrics.update(torch.tensor([[0.0, 2.0, 1.0]]), torch.tensor([1]))
    result = metrics.compute()
    expect_equal(sorted(result), ["accuracy", "loss", "macro_f1"], "the keys of metrics.compute()")
    mistakes = {
        "accuracy": {"this is the mean of the two batches' accuracies": 2 / 3},
        "loss": {"this is the mean of the two batches' losses": 0.70760},
        "macro_f1": {
            "this is the accuracy (micro-F1): each class has an F1 of its own": 0.5,
            "this is the mean of the two batches' macro-F1": 11 / 18,
            "this is the mean of the two batches' macro-F1, over all three classes": 5 / 18,
            "this is the mean of the batches' macro-F1, weighted by their sizes": 5 / 12,
            "this is the mean of the batches' macro-F1 over all three classes, weighted by their sizes": 0.25,
            "this is weighted by how often a class is a label": 0.6,
        },
    }
    for name, wanted in {"accuracy": 0.5, "loss": 0.857622, "macro_f1": 4 / 15}.items():
        suspects = {told: lambda value=value: value for told, value in mistakes[name].items()}
        call = f"metrics.compute()[{name!r}] of the worked example"
        expect_number(result[name], wanted, call, rtol=1e-4, suspects=suspects)
    again, likely = metrics.compute(), "compute() changes what was counted: reset() alone begins anew"
    told = "metrics.compute(), asked again, gives something else"
    expect_that(again == result, told, yours=str(again), wanted=str(result), likely=likely)
