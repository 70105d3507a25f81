"""Answers to top_three."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "scores.topk(3, dim=1)"

SPECIMENS = [
    Wrong(
        "of columns",
        edits=[(LINE, "scores.topk(3, dim=0)")],
        rung="job",
        check="test_values",
        says="down the rows",
    ),
    Wrong(
        "the end of a sorted row",
        edits=[(LINE, "(part[:, -3:] for part in scores.sort(dim=1))")],
        rung="job",
        check="test_worked_example",
        says="the largest comes last",
    ),
    Wrong(
        "sorted upwards",
        edits=[(LINE, "(part[:, :3] for part in scores.sort(dim=1))")],
        rung="job",
        check="test_worked_example",
        says="the three smallest",
    ),
    Wrong(
        "places first",
        edits=[("values, places =", "places, values =")],
        rung="job",
        check="test_worked_example",
        says="places come first",
    ),
    Right(
        "sorted downwards",
        edits=[(LINE, "(part[:, :3] for part in scores.sort(dim=1, descending=True))")],
    ),
    Right(
        "argsort and gather",
        edits=[
            ("values, places = " + LINE, "places = scores.argsort(dim=-1, descending=True)[:, :3]"),
            ("return values, places", "return scores.gather(1, places), places"),
        ],
    ),
    Right(
        "as it comes",
        edits=[
            ("values, places = " + LINE, "found = torch.topk(scores, 3)"),
            ("return values, places", "return found"),
            TORCH,
        ],
    ),
]
