"""Ones, added up: by you in float32, and in bfloat16, where 256 + 1 is 256."""

from collections.abc import Iterator
from types import ModuleType

import torch

from grader.learner.plot import chart

COUNTS = range(0, 600, 10)


def see(sum_in_float32: ModuleType) -> Iterator[str]:
    ones = torch.ones(600, dtype=torch.bfloat16)
    total, stalled = torch.zeros((), dtype=torch.bfloat16), []
    for one in ones:
        stalled.append(total.item())
        total = total + one
    yours = [sum_in_float32.sum_in_float32(ones[:count]).item() for count in COUNTS]
    narrow = [stalled[count] for count in COUNTS]
    yield chart(("o", COUNTS, yours), ("·", COUNTS, narrow), across="ones", up="sum")
    yield "o is yours, · the sum in bfloat16"
