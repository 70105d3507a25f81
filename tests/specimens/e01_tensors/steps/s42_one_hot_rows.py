"""Answers to one_hot_rows."""

from grader.authoring.specimen import Right, Wrong

TORCH = ("from jaxtyping", "import torch\nfrom jaxtyping")
LINE = "F.one_hot(labels, num_classes=classes)"

SPECIMENS = [
    Wrong(
        "no num_classes",
        edits=[(LINE, "F.one_hot(labels)")],
        rung="job",
        check="test_worked_example",
        says="`num_classes=` is missing",
    ),
    Wrong(
        "columns",
        edits=[(LINE, f"{LINE}.T")],
        rung="job",
        check="test_worked_example",
        says="a row for each class",
    ),
    Wrong(
        "counted from 1",
        edits=[(LINE, "F.one_hot((labels - 1) % classes, classes)")],
        rung="job",
        check="test_values",
        says="counted from 1",
    ),
    Wrong(
        "the label in its place",
        edits=[(LINE, f"{LINE} * labels.unsqueeze(1)")],
        rung="job",
        check="test_values",
    ),
    Right("rows of a table", edits=[(LINE, "torch.eye(classes)[labels]"), TORCH]),
    Right("compared with all classes", edits=[(LINE, "labels.unsqueeze(1) == torch.arange(classes)"), TORCH]),
    Right(
        "filled one by one",
        edits=[
            (
                "return " + LINE,
                "x = torch.zeros(len(labels), classes)\n    for i, label in enumerate(labels):\n"
                "        x[i, label] = 1\n    return x",
            ),
            TORCH,
        ],
    ),
]
