"""The worked example of latency_report."""

import torch

from grader.checks import expect_equal, expect_number

TAKES = {1: [0.9, 0.01, 0.012, 0.011, 0.047], 4: [1.0, 0.02, 0.02]}
WANTED = {1: (4, 11.5, 41.75, 45.95, 50.0), 4: (2, 20.0, 20.0, 20.0, 200.0)}


def test_worked_example(answer):
    """Both sizes of the worked example are reported."""
    now, left = [0.0], {rows: iter(takes) for rows, takes in TAKES.items()}

    def predict(batch):
        now[0] += next(left[len(batch)])

    batches = [torch.zeros(rows, 2) for rows, takes in TAKES.items() for _ in takes]
    report = answer.latency_report(predict, batches, warmup=1, clock=lambda: now[0])
    for rows, (calls, *numbers) in WANTED.items():
        expect_equal(report[rows].calls, calls, f"report[{rows}].calls")
        for name, wanted in zip(("p50", "p95", "p99", "rows_per_second"), numbers, strict=True):
            expect_number(getattr(report[rows], name), wanted, f"report[{rows}].{name}", rtol=1e-4)
