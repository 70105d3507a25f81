"""Answers to my_first_module."""

from grader.authoring.specimen import Right, Wrong

RETURN = "return self.second(self.first(x).relu())"

SPECIMENS = [
    Wrong(
        "no ReLU",
        edits=[(RETURN, "return self.second(self.first(x))")],
        rung="job",
        check="test_values",
        says="ReLU between the layers is missing",
    ),
    Wrong(
        "ReLU at the end",
        edits=[(RETURN, "return self.second(self.first(x)).relu()")],
        rung="job",
        check="test_values",
        says="behind the second layer",
    ),
    Wrong(
        "layers made in forward",
        code="""
from torch import nn

class Net(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.sizes = features, hidden, classes

    def forward(self, x):
        features, hidden, classes = self.sizes
        return nn.Linear(hidden, classes)(nn.Linear(features, hidden)(x).relu())
""",
        rung="job",
        check="test_worked_example",
        says="does not know its layers",
    ),
    Wrong(
        "the example's sizes",
        edits=[("nn.Linear(features, hidden)", "nn.Linear(4, 8)"), ("(hidden, classes)", "(8, 3)")],
        rung="job",
        check="test_values",
    ),
    Right(
        "ReLU as a layer, step by step",
        edits=[
            ("(hidden, classes)", "(hidden, classes)\n        self.relu = nn.ReLU()"),
            (
                RETURN,
                "x = self.first(x)\n        x = self.relu(x)\n        x = self.second(x)\n        return x",
            ),
        ],
    ),
    Right(
        "nn.functional",
        edits=[
            (RETURN, "hidden = nn.functional.relu(self.first.forward(x))\n        return self.second(hidden)")
        ],
    ),
    Right(
        "clamped at 0, the second layer made first",
        code="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, features, hidden, classes):
        super(Net, self).__init__()
        self.second = nn.Linear(hidden, classes)
        self.first = nn.Linear(features, hidden)

    def forward(self, x):
        return self.second(torch.clamp(self.first(x), min=0))
""",
    ),
]
