"""Train the compiled classifier, and count its graphs: `python -m compiled_slower.train`."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .data import batches, make
from .graphs import Graphs
from .model import Net

Batch = tuple[Tensor, Tensor, Tensor]


def loss_of(scores: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
    """The mean loss of the rows that are not empty."""
    losses = F.cross_entropy(scores, labels, reduction="none")
    counted = lengths > 0
    return (losses * counted).sum() / counted.sum().clamp(min=1)


class Trainer:
    """Trains a model, compiled with a backend, or as it is if that is None."""

    def __init__(self, model: nn.Module, backend: Callable[..., Any] | None = None, lr: float = 0.01) -> None:
        self.model = model
        self.fast = model if backend is None else torch.compile(model, backend=backend, dynamic=True)
        self.optimizer = torch.optim.Adam(model.parameters(), lr)
        self.total: Tensor | float = 0.0

    def step(self, x: Tensor, lengths: Tensor, labels: Tensor) -> None:
        """Train on one batch, and add its loss to `total`."""
        loss = loss_of(self.fast(x, lengths), lengths, labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.total = self.total + loss.detach()

    def epoch(self, data: Iterable[Batch]) -> float:
        """Train on each batch; the mean of their losses."""
        self.model.train()
        self.total, steps = 0.0, 0
        for batch in data:
            self.step(*batch)
            steps += 1
        return float(self.total) / steps

    @torch.no_grad()
    def evaluate(self, data: Iterable[Batch]) -> float:
        """The share of rows that are right, of those that are not empty."""
        self.model.eval()
        hits: Tensor | int = 0
        count: Tensor | int = 0
        for x, lengths, labels in data:
            right = (self.fast(x, lengths).argmax(-1) == labels) & (lengths > 0)
            hits = hits + right.sum()
            count = count + (lengths > 0).sum()
        return float(hits / count)


def train(epochs: int = 4, seed: int = 0, say: Callable[[str], object] = print) -> list[int]:
    """Train, and tell; how many operations each graph has."""
    torch.manual_seed(seed)
    graphs = Graphs()
    trainer, data = Trainer(Net(), graphs), batches(make(180, seed=1), 16)
    for number in range(epochs):
        loss = trainer.epoch(data)
        say(f"epoch {number}   loss {loss:.3f}   graphs so far {len(graphs.operations)}")
    accuracy = trainer.evaluate(batches(make(100, seed=2), 16))
    most = max(graphs.operations)
    say(f"accuracy {accuracy:.2f}; {len(graphs.operations)} graphs, of {most} operations at most")
    return graphs.operations


if __name__ == "__main__":
    train()
