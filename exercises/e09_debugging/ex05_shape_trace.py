"""Which shapes go into and out of every module?

"mat1 and mat2 shapes cannot be multiplied (32x512 and 2048x10)", somewhere in forty layers. `shape_trace`
logs every call of a module in a block, so that the table also tells how far a model came that raises:

    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(4, 2))     # 5 numbers meet a layer for 4
    with shape_trace(model) as rows:
        model(torch.zeros(8, 3))                                           # RuntimeError
    for row in rows: print(row)

    Call(name='', kind='Sequential', inputs=[(8, 3)], outputs=None)
    Call(name='0', kind='Linear', inputs=[(8, 3)], outputs=[(8, 5)])
    Call(name='1', kind='ReLU', inputs=[(8, 5)], outputs=[(8, 5)])
    Call(name='2', kind='Linear', inputs=[(8, 5)], outputs=None)

Rules:
- `rows` is a list that grows while the block runs: one Call for each call of the model or of a module in it,
  in the order in which the calls begin. A module that is called twice, in two places or by itself, has two
  rows.
- name and kind are the name in `model.named_modules()`, which for a shared module is the first, and the name
  of the module's class. The model itself is ''.
- inputs: the shape of each tensor among the positional arguments, then among the keyword arguments, as the
  call begins. outputs: the same of what comes back; [] if there is no tensor in it. A call that raises keeps
  None, and the others get what is theirs, also where the model catches the error and goes on, or a module
  that has called itself does.
- Tuples, lists and dicts are opened, however deeply nested, in their order. Anything else (None, a number, a
  string) has no entry. A shape is a plain tuple of ints.
- After the block, also one that raises, all is as before: no hook of shape_trace is left, hooks of others
  are still there, also those added within the block. Errors reach the caller as they are. Later calls add
  nothing.
- The model computes what it would without it: the same results, gradients, modes, random numbers.
- The rows keep no tensor alive. Blocks may be nested, on the same model too: each has a list of its own.
  Calls of other models are not logged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn


@dataclass
class Call:
    """One call of a module: which, and the shapes of the tensors that went in and came out."""

    name: str
    kind: str
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]] | None = None


@contextmanager
def shape_trace(model: nn.Module) -> Iterator[list[Call]]:
    """Log the calls of `model` and of all modules in it while a `with` block runs.

    Args:
        model: any module.

    Yields:
        The calls so far, in the order in which they began.
    """
    raise NotImplementedError
