from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn


@dataclass
class Call:
    name: str
    kind: str
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]] | None = None


@contextmanager
def shape_trace(model: nn.Module) -> Iterator[list[Call]]:
    rows: list[Call] = []
    latest: dict[nn.Module, Call] = {}

    def begin(name, module, args, kwargs):
        latest[module] = Call(name, type(module).__name__, _shapes((args, kwargs)))
        rows.append(latest[module])

    def end(module, _args, output):
        latest[module].outputs = _shapes(output)

    hooks = []
    try:
        for name, module in model.named_modules():
            hooks.append(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))
            hooks.append(module.register_forward_hook(end))
        yield rows
    finally:
        for hook in hooks:
            hook.remove()


def _shapes(value: object) -> list[tuple[int, ...]]:
    if isinstance(value, torch.Tensor):
        return [tuple(value.shape)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [shape for item in value for shape in _shapes(item)]
    return []
