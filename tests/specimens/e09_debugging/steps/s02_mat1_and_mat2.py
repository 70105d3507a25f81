"""Answers to mat1_and_mat2."""

from grader.authoring.specimen import Right, Wrong

LAST = "nn.Linear(20, classes)"

SPECIMENS = [
    Wrong(
        "the first layer is changed instead",
        edits=[("nn.Linear(features, 20)", "nn.Linear(features, 30)"), (LAST, "nn.Linear(30, classes)")],
        rung="job",
        check="test_values",
        says="the first layer has changed",
    ),
    Wrong(
        "both numbers of the last layer are changed",
        edits=[(LAST, "nn.Linear(20, 30)")],
        rung="job",
        check="test_worked_example",
    ),
    Wrong(
        "the number of features that the network gets",
        edits=[(LAST, "nn.Linear(features, classes)")],
        rung="job",
        check="test_worked_example",
        says="mat1 and mat2",
    ),
    Right(
        "a name for the number",
        edits=[
            ("    return nn.Sequential(\n", "    hidden = 20\n    return nn.Sequential(\n"),
            ("nn.Linear(features, 20)", "nn.Linear(features, hidden)"),
            (LAST, "nn.Linear(hidden, classes)"),
        ],
    ),
    Right("a layer that finds out by itself", edits=[(LAST, "nn.LazyLinear(classes)")]),
]
