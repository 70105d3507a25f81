"""Answers to count_up."""

from grader.authoring.specimen import Right, Wrong

EVENS = "torch.arange(0, stop, 2)"
POINTS = "torch.linspace(0, 1, n)"

SPECIMENS = [
    Wrong(
        "with stop",
        edits=[(EVENS, "torch.arange(0, stop + 1, 2)")],
        rung="job",
        check="test_worked_example",
        says="stop itself is among",
    ),
    Wrong(
        "without 1",
        edits=[(POINTS, "torch.arange(0, 1, 1 / n)")],
        rung="job",
        check="test_worked_example",
        says="1 is not reached",
    ),
    Wrong(
        "every number",
        edits=[(EVENS, "torch.arange(stop)")],
        rung="job",
        check="test_values",
        says="the step is missing",
    ),
    Wrong(
        "stop // 2 of them", edits=[(EVENS, "2 * torch.arange(stop // 2)")], rung="job", check="test_values"
    ),
    Right("divided", edits=[(POINTS, "torch.arange(n) / (n - 1)")]),
    Right(
        "by Python's range",
        edits=[(EVENS, "torch.tensor([i for i in range(stop) if i % 2 == 0])")],
    ),
]
