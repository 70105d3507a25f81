"""The suite of count_over_batches."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from grader.checks.contract import Contract, given


def run(count, weight, loader):
    x, labels, size = loader
    model = nn.Linear(*weight.shape[::-1], bias=False)
    model.weight = nn.Parameter(weight.clone())
    return count(model.eval(), DataLoader(TensorDataset(x, labels), batch_size=size))


def right_rows(weight, loader):
    """1 for each row that is right, and 0 for each that is wrong, batch by batch."""
    x, labels, size = loader
    return ((x @ weight.T).argmax(1) == labels).double().split(size)


def draw(gen):
    cases = {}
    for rows, size in [(4, 3), (10, 4), (17, 5), (12, 4)]:
        weight, x = torch.randn(3, 2, generator=gen), torch.randn(rows, 2, generator=gen)
        labels = (x @ weight.T + torch.randn(rows, 3, generator=gen)).argmax(1)
        labels[-1] = (x[-1] @ weight.T).argmin()  # the last batch is worse than the others
        cases[f"{rows} rows in batches of {size}"] = given(weight, (x, labels, size))
    return cases


EXAMPLE = (torch.tensor([[2.0, 1.0], [0.0, 3.0], [4.0, 1.0], [5.0, 1.0]]), torch.tensor([0, 1, 0, 1]), 3)

contract = Contract(
    "count_over_batches(model, loader)",
    reference=lambda weight, loader: torch.cat(right_rows(weight, loader)).mean().item(),
    example=(given(torch.eye(2), EXAMPLE), 0.75),
    inputs=draw,
    suspects={
        "this is the mean of the batches' accuracies: count rows, and divide once, at the end": (
            lambda *given: torch.stack([batch.mean() for batch in right_rows(*given)]).mean().item()
        ),
        "the number of right rows is divided by the number of batches, not of rows": (
            lambda *given: torch.cat(right_rows(*given)).sum().item() / len(right_rows(*given))
        ),
        "only the last batch counts: add up inside the loop": lambda *given: (
            right_rows(*given)[-1].mean().item()
        ),
    },
    use=lambda answer, *given: run(answer.count_over_batches, *given),
)
