"""Answers to only_positive."""

from grader.authoring.specimen import Right, Wrong

KEPT = "x[x > 0]"

SPECIMENS = [
    Wrong(
        "0 as well", edits=[(KEPT, "x[x >= 0]")], rung="job", check="test_worked_example", says="not above 0"
    ),
    Wrong(
        "the mask", edits=[(KEPT, "x > 0")], rung="job", check="test_worked_example", says="that is the mask"
    ),
    Wrong(
        "zeros for the others",
        edits=[(KEPT, "x * (x > 0)")],
        rung="job",
        check="test_values",
        says="are to be left out",
    ),
    Wrong(
        "an if for a tensor",
        edits=[("return x[x > 0]", "if x > 0:\n        return x")],
        rung="job",
        check="test_worked_example",
        says="wants one True or False",
    ),
    Right(
        "a loop",
        edits=[
            (KEPT, "torch.tensor([number for number in x.flatten() if number > 0])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
    ),
    Right("by masked_select", edits=[(KEPT, "x.masked_select(x.gt(0))")]),
]
