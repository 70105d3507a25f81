"""Which parameters did not move?

A layer that the optimizer was not given keeps its weights, and nothing complains. Call `step()`, which trains `model`
by one step, and list the names of the parameters that have not changed.

    # step() trains model.weight, and forgets model.bias
    did_it_move(model, step)        # ["bias"]

- Before the step, copy the parameters: a step changes them in place.

New here: `torch.equal(a, b)` is True if all numbers of a and b are equal; `p.detach().clone()` is a copy of p without
its graph.
"""

from collections.abc import Callable

import torch
from torch import nn


def did_it_move(model: nn.Module, step: Callable[[], object]) -> list[str]:
    raise NotImplementedError
