"""The suite of one_epoch."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from grader.checks.contract import Contract, given

RATE = torch.tensor(0.1)


def two_epochs(epoch, weight, lr, loader):
    """The mean loss of two epochs over batches of equal size, and the weight after each."""
    x, y, batches = loader
    loader = DataLoader(TensorDataset(x, y), batch_size=len(x) // batches)
    model = nn.Linear(weight.shape[1], 1, bias=False)
    model.weight = nn.Parameter(weight.clone())
    optimizer = torch.optim.SGD(model.parameters(), float(lr))
    found = {}
    for which in ("first", "second"):
        found[f"loss of the {which} epoch"] = epoch(model, optimizer, loader)
        found[f"weight after the {which} epoch"] = model.weight.detach().clone()
    return found


def one_epoch(model, optimizer, loader, clear=True, most=None, divide=True, whole=False):
    losses = []
    optimizer.zero_grad()
    for x, y in list(loader)[:most]:
        loss = F.mse_loss(model(x), y)
        if clear:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[-1] if whole else sum(losses) / (len(losses) if divide else 1)


def mistake(**options):
    return partial(two_epochs, partial(one_epoch, **options))


def draw(gen):
    cases = {}
    for batches, rows, n in [(2, 3, 2), (3, 2, 1), (4, 4, 3)]:
        x, y = (torch.randn(batches * rows, size, generator=gen) for size in (n, 1))
        cases[f"{batches} batches of {rows} rows"] = given(
            torch.randn(1, n, generator=gen), RATE, (x, y, batches)
        )
    return cases


EXAMPLE = {
    "loss of the first epoch": 16.02,
    "weight after the first epoch": torch.tensor([[2.52]]),
    "loss of the second epoch": 0.410112,
    "weight after the second epoch": torch.tensor([[2.9232]]),
}

contract = Contract(
    "one_epoch(model, optimizer, loader)",
    reference=mistake(),
    example=(
        given(torch.zeros(1, 1), RATE, (torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [6.0]]), 2)),
        EXAMPLE,
    ),
    inputs=draw,
    suspects={
        "the gradients of the batches pile up: clear them in every turn of the loop": mistake(clear=False),
        "only the first batch is used: the return stands inside the loop": mistake(most=1),
        "this is the loss of the last batch, and the mean of all is asked for": mistake(whole=True),
        "the losses are added up: divide by the number of batches": mistake(divide=False),
    },
    use=lambda answer, *given: two_epochs(answer.one_epoch, *given),
)
