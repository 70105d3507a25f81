"""The suite of one_hot_rows."""

import torch

from grader.checks.contract import Contract, given


def drawn(gen):
    """Labels of which none is the last class."""
    n, classes = torch.randint(4, 30, (2,), generator=gen).tolist()
    return given(torch.randint(classes - 1, (n,), generator=gen), classes)


contract = Contract(
    "one_hot_rows(labels, classes)",
    use=lambda answer, labels, classes: answer.one_hot_rows(labels, classes).float(),
    reference=lambda labels, classes: torch.eye(classes)[labels],
    example=(given(torch.tensor([2, 0]), 4), [[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
    inputs=lambda gen: [drawn(gen) for _ in range(4)],
    dims="labels classes",
    suspects={
        "the label itself stands at its place, which is to hold a 1": lambda labels, classes: (
            torch.eye(classes)[labels] * labels[:, None]
        ),
        "the rows are as long as the largest label asks: `num_classes=` is missing": (
            lambda labels, classes: torch.eye(int(labels.max()) + 1)[labels]
        ),
        "a row for each class, a column for each label": lambda labels, classes: torch.eye(classes)[
            :, labels
        ],
        "classes are counted from 1": lambda labels, classes: torch.eye(classes)[labels - 1],
    },
)
