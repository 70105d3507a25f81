"""The messages that e09's chapter explains are those of PyTorch, and are found however they were printed."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from grader.course import chapter, index
from grader.course.catalog import load

ROWS = {row.name: row for row in chapter.messages(chapter.text_of("e09_debugging"))}


def w() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


def twice() -> None:
    loss = w().square().sum()
    loss.backward()
    loss.backward()


def modified() -> None:
    e = w().exp()
    e += 1
    e.sum().backward()


def used_in_training() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    (x * w()).sum().backward()


PROVOKED: dict[str, Callable[[], object]] = {
    "mat1 and mat2 shapes": lambda: nn.Linear(4, 2)(torch.ones(3, 5)),
    "The size of tensor a": lambda: torch.ones(3) + torch.ones(4),
    "The expanded size": lambda: torch.ones(2, 3).expand(2, 4),
    "view size": lambda: torch.ones(2, 3).T.view(6),
    "stack expects": lambda: torch.stack([torch.ones(2), torch.ones(3)]),
    "Index tensor": lambda: torch.ones(2, 3).gather(1, torch.tensor([0, 1])),
    "Dimension out": lambda: torch.ones(2).sum(1),
    "index out": lambda: nn.Embedding(3, 2)(torch.tensor([5])),
    "Target 3": lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3])),
    "Expected target size": lambda: F.cross_entropy(torch.ones(2, 5, 7), torch.zeros(2, 5).long()),
    "expected target dtype": lambda: F.cross_entropy(torch.ones(2, 7), torch.zeros(2)),
    "mean()": lambda: torch.tensor([1, 2]).mean(),
    "mat1 and mat2 must": lambda: nn.Linear(4, 2)(torch.from_numpy(np.ones((3, 4)))),
    "a Tensor with": lambda: torch.ones(2).item(),
    "Boolean value": lambda: bool(torch.ones(2) > 0),
    "Can't call numpy": lambda: w().numpy(),
    "element 0": lambda: torch.ones(2).sum().backward(),
    "grad can be": lambda: (2 * w()).backward(),
    "only Tensors": lambda: torch.tensor([1]).requires_grad_(),
    "Trying to backward": twice,
    "one of the variables": modified,
    "a leaf Variable": lambda: w().add_(1),
    "Inference tensors": used_in_training,
    "Error(s) in": lambda: nn.Linear(2, 2).load_state_dict({}),
    "optimizer got": lambda: torch.optim.SGD([], lr=0.1),
    "Default process group": lambda: torch.distributed.all_reduce(torch.ones(2)),
    "Object of type": lambda: json.dumps(torch.ones(2)),
}
ELSEWHERE = ("Expected all tensors", "Weights only")
"""What needs a second device, and what e10's chapter provokes."""


@pytest.mark.parametrize("beginning", PROVOKED)
def test_a_message_is_what_pytorch_says(beginning: str) -> None:
    (name,) = [name for name in ROWS if name.startswith(beginning)]
    with pytest.raises(Exception) as raised:
        PROVOKED[beginning]()
    printed = f"{type(raised.value).__name__}: {raised.value}"
    assert name in printed
    found = index.find(load(), printed)
    assert [e.slug for e in found.messages[0].exercises] == list(ROWS[name].slugs)


def test_every_message_is_tried() -> None:
    tried = (*PROVOKED, *ELSEWHERE)
    assert [name for name in ROWS if not name.startswith(tried)] == []


def test_each_row_names_steps_or_exercises() -> None:
    known = {e.slug for e in load().exercises}
    assert all(row.slugs and set(row.slugs) <= known for row in ROWS.values())
