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

import sys
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
    rows: list[Call] = []
    under_way: list[tuple[nn.Module, Call, BaseException | None]] = []

    def begin(name, module, args, kwargs):
        row = Call(name, type(module).__name__, _shapes((args, kwargs)))
        rows.append(row)
        under_way.append((module, row, sys.exc_info()[1]))

    def end(module, _args, output):
        while under_way:
            caller, row, error = under_way.pop()
            if caller is module:  # those above it were left by what is no Exception
                if sys.exc_info()[1] is error:  # no new one: this hook also runs after an error
                    row.outputs = _shapes(output)
                break

    hooks = []
    try:
        for name, module in model.named_modules():  # each module once, however many names it has
            hooks.append(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))
            hooks.append(module.register_forward_hook(end, always_call=True))
        yield rows
    finally:
        for hook in hooks:
            hook.remove()


def _shapes(value: object) -> list[tuple[int, ...]]:
    if isinstance(value, torch.Tensor):
        return [tuple(value.shape)]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [shape for item in value for shape in _shapes(item)]
    return []
