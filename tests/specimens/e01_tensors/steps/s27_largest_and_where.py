"""Answers to largest_and_where."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "values, places = scores.max(dim=1)"

SPECIMENS = [
    Wrong(
        "dim=0",
        edits=[(LINE, "values, places = scores.max(dim=0)")],
        rung="job",
        check="test_values",
        says="column",
    ),
    Wrong(
        "a place in the whole table",
        edits=[(LINE, "values, places = scores.max(), scores.argmax()")],
        rung="job",
        check="test_worked_example",
        says="whole table",
    ),
    Wrong(
        "the other way round",
        edits=[(LINE, "places, values = scores.max(dim=1)")],
        rung="job",
        check="test_values",
        says="places come first",
    ),
    Wrong("the smallest", edits=[("scores.max(", "scores.min(")], rung="job", check="test_worked_example"),
    Right(
        "as it comes", edits=[(LINE, "found = scores.max(dim=-1)"), ("return values, places", "return found")]
    ),
    Right(
        "argmax and a loop",
        edits=[
            (LINE, "places = scores.argmax(dim=1)"),
            (
                "return values",
                "values = torch.stack([row[j] for row, j in zip(scores, places)])\n    return values",
            ),
            TORCH,
        ],
    ),
    Right("amax", edits=[(LINE, "values, places = scores.amax(1), scores.argmax(1)")]),
]
