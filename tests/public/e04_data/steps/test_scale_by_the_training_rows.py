"""The suite of scale_by_the_training_rows."""

import torch

from grader.checks.contract import Contract, given

SIZES = [(5, 3, 2), (4, 4, 4), (9, 6, 1)]
SCALED = (torch.tensor([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]]), torch.tensor([[2.0, 0.0]]))


def scaled(train, test, known=None, **options):
    """Both, by mean and std of the rows in `known`: those to train on, unless it says otherwise."""
    known = train if known is None else known
    return tuple((x - known.mean(**options)) / known.std(**options) for x in (train, test))


def right(train, test):
    return scaled(train, test, dim=0)


def draw(gen):
    def table(rows, columns):
        return 3 * torch.randn(rows, columns, generator=gen) + 5

    return [(table(rows, columns), table(others, columns)) for rows, others, columns in SIZES]


contract = Contract(
    "scale_by_the_training_rows(train, test)",
    reference=right,
    example=(
        given(torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), torch.tensor([[4.0, 20.0]])),
        SCALED,
    ),
    inputs=draw,
    ulps=256,
    suspects={
        "the test rows are scaled by their own mean and std: take those of train": lambda train, test: (
            right(train, test)[0],
            right(test, test)[0],
        ),
        "mean and std are those of train and test together": lambda train, test: scaled(
            train, test, torch.cat([train, test]), dim=0
        ),
        "there is one mean and one std for all columns: dim=0": scaled,
        "only the mean is taken away: divide by std": lambda train, test: (
            train - train.mean(0),
            test - train.mean(0),
        ),
        "mean and std are those of each row: dim=0 takes those of the columns": lambda train, test: scaled(
            train, test, dim=1, keepdim=True
        ),
        "the test rows are not scaled": lambda train, test: (right(train, test)[0], test),
    },
)
