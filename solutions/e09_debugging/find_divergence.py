import copy
import math
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

Place = tuple[object, ...]


@dataclass(frozen=True)
class Divergence:
    layer: str
    call: int
    error: float


def find_divergence(
    reference: nn.Module, candidate: nn.Module, *inputs: object, rtol: float = 1e-4, atol: float = 1e-6
) -> Divergence | None:
    right, yours = _record(reference, inputs), _record(candidate, inputs)
    calls: Counter[str] = Counter()
    for (name, a), (other, b) in zip(right, yours, strict=False):  # the model's own call is the last of each
        call, calls[name] = calls[name], calls[name] + 1
        agree, error = _compare(a, b, rtol, atol) if name == other else (False, math.inf)
        if not agree:
            return Divergence(name, call, error)
    return None


@torch.no_grad()
def _record(model: nn.Module, inputs: tuple[object, ...]) -> list[tuple[str, dict[Place, Tensor]]]:
    record: list[tuple[str, dict[Place, Tensor]]] = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            hook = module.register_forward_hook(
                lambda module, args, out, name=name: record.append((name, _tensors(out)))
            )
            stack.callback(hook.remove)
            stack.callback(setattr, module, "training", module.training)
        model.eval()
        model(*copy.deepcopy(inputs))
    return record


def _tensors(data: object, place: Place = ()) -> dict[Place, Tensor]:
    if isinstance(data, Tensor):
        return {place: data.clone()}  # a later layer may write over the original
    parts: Any = ()
    if isinstance(data, (dict, list, tuple)):
        parts = data.items() if isinstance(data, dict) else enumerate(data)
    return {where: t for key, part in parts for where, t in _tensors(part, (*place, key)).items()}


def _compare(a: dict[Place, Tensor], b: dict[Place, Tensor], rtol: float, atol: float) -> tuple[bool, float]:
    if a.keys() != b.keys() or any(a[place].shape != b[place].shape for place in a):
        return False, math.inf
    agree, largest = True, 0.0
    for place in a:
        x, y = _wide(a[place]), _wide(b[place])
        agree = agree and torch.allclose(y, x, rtol=rtol, atol=atol, equal_nan=True)
        same = (x == y) | (x.isnan() & y.isnan())  # inf - inf would be NaN
        error = (x - y).abs().masked_fill(same, 0.0).nan_to_num(nan=math.inf, posinf=math.inf)
        largest = max(largest, float(error.max()) if error.numel() else 0.0)
    return agree, largest


def _wide(x: Tensor) -> Tensor:
    return x.cpu().to(torch.promote_types(x.dtype, torch.float64))  # not every device has these
