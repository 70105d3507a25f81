"""Answers to one_per_row."""

from grader.authoring.specimen import Right, Wrong

TAKEN = "scores.gather(1, classes.unsqueeze(1)).squeeze(1)"

SPECIMENS = [
    Wrong(
        "no unsqueeze",
        edits=[(TAKEN, "scores.gather(1, classes)")],
        rung="job",
        check="test_worked_example",
        says="gather wants a table as its index",
    ),
    Wrong(
        "no squeeze",
        edits=[(".squeeze(1)", "")],
        rung="job",
        check="test_worked_example",
        says="still a column",
    ),
    Wrong(
        "the columns of all",
        edits=[(TAKEN, "scores[:, classes]")],
        rung="job",
        check="test_worked_example",
        says="does not go row by row",
    ),
    Wrong(
        "the largest", edits=[(TAKEN, "scores.amax(dim=1)")], rung="job", check="test_values", says="largest"
    ),
    Right(
        "by two indices",
        edits=[
            (TAKEN, "scores[torch.arange(len(scores)), classes]"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right(
        "a loop",
        edits=[
            (TAKEN, "torch.tensor([scores[i, c] for i, c in enumerate(classes)])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
]
