"""Answers to first_tensor."""

from grader.authoring.specimen import Right, Wrong

LINE = "return torch.tensor([first, second])"

SPECIMENS = [
    Wrong(
        "one long row",
        edits=[(LINE, "return torch.tensor(first + second)")],
        rung="job",
        check="test_worked_example",
        says="both lists stand in one row",
    ),
    Wrong(
        "two arguments",
        edits=[(LINE, "return torch.tensor(first, second)")],
        rung="job",
        check="test_worked_example",
        says="one more pair of brackets",
    ),
    Wrong(
        "two tensors",
        edits=[(LINE, "return torch.tensor(first), torch.tensor(second)")],
        rung="job",
        check="test_worked_example",
        says="torch.stack of these",
    ),
    Wrong(
        "columns",
        edits=[(LINE, "return torch.tensor([first, second]).T")],
        rung="job",
        check="test_worked_example",
        says="column",
    ),
    Wrong(
        "the example's numbers",
        edits=[(LINE, "return torch.tensor([[3, 4, 0], [1, 5, 9]])")],
        rung="job",
        check="test_values",
    ),
    Right("stacked", edits=[(LINE, "return torch.stack([torch.tensor(first), torch.tensor(second)])")]),
    Right(
        "written row by row",
        edits=[
            (
                LINE,
                "x = torch.zeros(2, len(first), dtype=torch.int64)\n    x[0] = torch.tensor(first)\n    x[1] = torch.tensor(second)\n    return x",
            )
        ],
    ),
]
