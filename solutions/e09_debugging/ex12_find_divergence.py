"""The first layer at which two models part.

You have ported a model, fused two of its layers or loaded its checkpoint elsewhere, and the logits are not
the same. `find_divergence` runs both on the same inputs, and tells where they part:

    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    candidate = copy.deepcopy(reference)
    candidate[2].bias.data += 0.5
    find_divergence(reference, candidate, x)     # Divergence(layer="2", call=0, error=0.5)
    find_divergence(reference, reference, x)     # None

The outputs of all modules are compared one by one, in the order in which the reference's calls end: a layer
comes before the block that it is in. The first whose outputs differ is the result. The model itself is a
module too, with the name "".

Rules:
- A number a of the reference and b of the candidate agree if |a - b| <= atol + rtol × |a|, in float64,
  whatever their dtypes. NaN agrees with NaN, inf with inf of the same sign, and neither with anything else.
- error is the largest |a - b| in the outputs of that call, a float. It is inf where NaN or inf stands
  against another number, and where a tensor has another shape or stands alone.
- Outputs are tensors, or tuples, lists and dicts of them, nested; values of dicts belong together by key.
  What is no tensor is not compared.
- layer is the name in `named_modules()`: a module of two names goes by the first. A module may be called
  several times; call counts its calls from 0.
- The runs are compared call by call. Where the models call modules of different names, or one has come to
  its end, they part there: layer and call are the reference's, or the candidate's if the reference is at its
  end; error is inf.
- An output counts as it was when the call ended, even if a later layer writes over it in place.
- inputs are tensors, or tuples (named ones, too), lists and dicts of them. Each model gets copies of its own,
  since some write into their inputs; yours are not changed.
- Both models run once, in evaluation mode and without a graph. Afterwards, also when a model raises, each
  module has its own mode again and no hook is left; errors pass through. Hooks of others run, and stay. The
  models may share modules, or be one and the same.
"""

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
    """Where two models part.

    Attributes:
        layer: the name of the module.
        call: which of its calls, from 0.
        error: the largest difference between its outputs.
    """

    layer: str
    call: int
    error: float


def find_divergence(
    reference: nn.Module, candidate: nn.Module, *inputs: object, rtol: float = 1e-4, atol: float = 1e-6
) -> Divergence | None:
    """Run two models on the same inputs, and find the first call whose outputs differ.

    Args:
        reference: the model that is right.
        candidate: the model to judge.
        inputs: what both are called with.
        rtol: the difference to allow, relative to the reference.
        atol: the difference to allow besides.

    Returns:
        Where they part, or None if they do not.
    """
    right, yours = _record(reference, inputs), _record(candidate, inputs)
    calls: Counter[str] = Counter()
    for index in range(max(len(right), len(yours))):
        name = (right if index < len(right) else yours)[index][0]
        call, calls[name] = calls[name], calls[name] + 1
        if index >= len(right) or index >= len(yours) or yours[index][0] != name:
            return Divergence(name, call, math.inf)
        agree, error = _compare(right[index][1], yours[index][1], rtol, atol)
        if not agree:
            return Divergence(name, call, error)
    return None


@torch.no_grad()
def _record(model: nn.Module, inputs: tuple[object, ...]) -> list[tuple[str, dict[Place, Tensor]]]:
    """Name and outputs of each call, in the order in which the calls end."""
    record: list[tuple[str, dict[Place, Tensor]]] = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            hook = module.register_forward_hook(
                lambda module, args, out, name=name: record.append((name, _tensors(out)))
            )
            stack.callback(hook.remove)
            stack.callback(setattr, module, "training", module.training)
        model.eval()
        model(*_copy(inputs))
    return record


def _tensors(data: object, place: Place = ()) -> dict[Place, Tensor]:
    """Copies of the tensors in nested data, by their place in it."""
    if isinstance(data, Tensor):
        return {place: data.detach().clone()}  # a later layer may write over the original
    parts: Any = ()
    if isinstance(data, (dict, list, tuple)):
        parts = data.items() if isinstance(data, dict) else enumerate(data)
    return {where: t for key, part in parts for where, t in _tensors(part, (*place, key)).items()}


def _copy(data: Any) -> Any:
    """The same structure with tensors of its own."""
    if isinstance(data, Tensor):
        return data.detach().clone()
    if isinstance(data, dict):
        return {key: _copy(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        copies = [_copy(value) for value in data]
        return type(data)(*copies) if hasattr(data, "_fields") else type(data)(copies)
    return data


def _compare(a: dict[Place, Tensor], b: dict[Place, Tensor], rtol: float, atol: float) -> tuple[bool, float]:
    """Whether the outputs of a call agree, and the largest difference."""
    if a.keys() != b.keys() or any(a[place].shape != b[place].shape for place in a):
        return False, math.inf
    agree, largest = True, 0.0
    for place in a:
        x, y = _wide(a[place]), _wide(b[place])
        same = (x == y) | (x.isnan() & y.isnan())  # inf - inf would be NaN
        error = torch.where(same, 0.0, (x - y).abs()).nan_to_num(nan=math.inf, posinf=math.inf)
        allowed = torch.where(x.isfinite(), atol + rtol * x.abs(), 0.0)
        agree = agree and bool((error <= allowed).all())
        largest = max(largest, float(error.max()) if error.numel() else 0.0)
    return agree, largest


def _wide(x: Tensor) -> Tensor:
    """In float64, or complex128, and on the CPU: not every device has these."""
    return x.cpu().to(torch.promote_types(x.dtype, torch.float64))
