"""Answers to layers_in_a_row."""

from grader.authoring.specimen import Right, Wrong

LAST = "nn.Linear(20, classes),"
HIDDEN = "        nn.ReLU(),\n        nn.Linear(30, 20),\n        nn.ReLU(),\n"

SPECIMENS = [
    Wrong(
        "softmax at the end",
        edits=[(LAST, LAST + "\n        nn.Softmax(dim=1),")],
        rung="job",
        check="test_worked_example",
        says="a softmax comes last",
    ),
    Wrong(
        "ReLU at the end",
        edits=[(LAST, LAST + "\n        nn.ReLU(),")],
        rung="job",
        check="test_worked_example",
        says="a ReLU comes last",
    ),
    Wrong(
        "no ReLU between",
        edits=[(HIDDEN, "        nn.Linear(30, 20),\n")],
        rung="job",
        check="test_worked_example",
        says="no ReLU",
    ),
    Wrong(
        "the example's sizes",
        edits=[("nn.Linear(features, 30)", "nn.Linear(4, 30)"), (LAST, "nn.Linear(20, 3),")],
        rung="job",
        check="test_values",
    ),
    Right(
        "append in a loop",
        code="""
from torch import nn

def layers_in_a_row(features, classes):
    model = nn.Sequential()
    sizes = [features, 30, 20, classes]
    for i in range(3):
        if i > 0:
            model.append(nn.ReLU())
        model.append(nn.Linear(sizes[i], sizes[i + 1]))
    return model
""",
    ),
    Right("ReLU in place", edits=[("30),\n        nn.ReLU(),", "30),\n        nn.ReLU(inplace=True),")]),
    Right(
        "a Sequential in a Sequential",
        edits=[
            ("    return nn.Sequential(", "    return nn.Sequential(nn.Sequential("),
            ("nn.ReLU(),\n        " + LAST, "nn.ReLU(),\n        ),\n        " + LAST),
        ],
    ),
]
