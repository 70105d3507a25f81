"""Train a small flow and let it paint: python -m diffusion_grey.train."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from .data import KINDS, SIDE, clean, nearest, pictures, scaled, unscaled
from .flow import flow_loss
from .model import Velocity
from .paint import paint


class Average:
    """A model whose weights follow another's slowly."""

    def __init__(self, model: nn.Module, decay: float):
        self.model, self.decay = copy.deepcopy(model), decay

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Move on to the weights of `model` by what the decay leaves."""
        for kept, new in zip(self.model.parameters(), model.parameters(), strict=True):
            kept.lerp_(new, 1 - self.decay)


def train(steps: int = 1000, seed: int = 0, say: Callable[[str], None] = print) -> nn.Module:
    """Train, and say how it goes; the averaged model."""
    torch.manual_seed(seed)
    gen = torch.Generator().manual_seed(seed)
    drawn, labels = pictures(2000, seed=1)
    x = scaled(drawn)  # (2000, pixels)
    model = Velocity(SIDE * SIDE, len(KINDS), width=128, dropout=0.1)
    average = Average(model, decay=0.98)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    recent = []
    for step in range(steps):
        rows = torch.randint(len(x), (64,), generator=gen)  # (64,)
        loss = flow_loss(model, x[rows], labels[rows], gen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        recent.append(loss.item())
        if (step + 1) % 200 == 0:
            say(f"step {step + 1:4d}: a loss of {sum(recent) / len(recent):.3f}")
            recent = []
    return average.model


def examine(model: nn.Module, count: int = 25, say: Callable[[str], None] = print) -> tuple[float, float]:
    """Paint `count` pictures of each kind; how many show it, and how far they are from one without grain."""
    labels = torch.arange(len(KINDS)).repeat_interleave(count)  # (4 count,)
    painted = unscaled(paint(model, labels, 10, torch.Generator().manual_seed(1)))  # (4 count, 8, 8)
    which, far = nearest(painted)
    right = clean()[1][which] == labels  # (4 count,)
    for kind, name in enumerate(KINDS):
        mine = labels == kind
        told = f"{int(right[mine].sum()):2d} of {count} show one, at {len(set(which[mine].tolist()))} places"
        levels = f"from {painted[mine].min()} to {painted[mine].max()}"
        say(f"{name:5}  {told}; {far[mine].mean():3.0f} levels off; {levels}")
    for row in range(SIDE):
        say("   ".join(shade(line) for line in painted[::count, row]))
    return right.float().mean().item(), far.mean().item()


def shade(line: Tensor) -> str:
    """A row of a picture in letters, two for each pixel."""
    return "".join(2 * " .:*#"[level // 52] for level in line.tolist())


if __name__ == "__main__":
    torch.set_num_threads(1)
    examine(train())
