"""Answers to fahrenheit."""

from grader.authoring.specimen import Right, Wrong

LINE = "return 1.8 * celsius + 32"

SPECIMENS = [
    Wrong(
        "added first",
        edits=[(LINE, "return 1.8 * (celsius + 32)")],
        rung="job",
        check="test_worked_example",
        says="added before the multiplication",
    ),
    Wrong(
        "a list of rows",
        edits=[
            (LINE, "return torch.tensor([1.8 * c + 32 for c in celsius])"),
            ("from jaxtyping", "import torch\nfrom jaxtyping"),
        ],
        rung="job",
        check="test_values",
        says="without a loop",
    ),
    Wrong("5 by 9", edits=[("1.8", "5 / 9")], rung="job", check="test_worked_example"),
    Right("by functions", edits=[(LINE, "return celsius.mul(9).div(5).add(32)")]),
    Right(
        "one row after the other",
        edits=[
            (
                LINE,
                "result = celsius.clone()\n    for i in range(len(result)):\n        result[i] = celsius[i] * 9 / 5 + 32\n    return result",
            )
        ],
    ),
]
