"""What your classifier takes for outside, before it has learned and after."""

from collections.abc import Iterator
from types import ModuleType

import torch
from torch.nn import functional as F

from grader.learner.plot import shades


def see(mlp_logits: ModuleType, logits_to_classes: ModuleType) -> Iterator[str]:
    torch.manual_seed(0)
    model = mlp_logits.Classifier(2, (16, 16), 2)
    points = 4 * torch.rand(400, 2) - 2
    outside = (points.norm(dim=1) > 1.3).long()
    rows, columns = torch.linspace(-2, 2, 10), torch.linspace(-2, 2, 22)
    plane = torch.cartesian_prod(rows, columns)

    def classes() -> str:
        _, found = logits_to_classes.logits_to_classes(model(plane).detach())
        return shades(found.view(10, 22).tolist())

    yield classes()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(200):
        optimizer.zero_grad()
        F.cross_entropy(model(points), outside).backward()
        optimizer.step()
    yield classes()
    yield "dark is outside; it learned from 400 points, in a circle and around it"
