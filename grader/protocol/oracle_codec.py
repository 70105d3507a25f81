"""Plain data as JSON, for what an oracle returns.

Never pickle: the process that writes may be hostile. Tensors travel as dtype, shape and raw bytes.
"""

import base64
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Encoded = list[Any]
"""A tag and a payload: ``["t", dtype, shape, bytes]``, ``["l", items]``, ``["d", pairs]``, ``["s", text]``,
``["i", digits]``, ``["f", repr]``, ``["b", flag]``, ``["n"]``; ``["e", text]`` where a case raised;
``["r", ulps, scale, encoded]`` where rounding may do more than usual."""


@dataclass(frozen=True)
class Rough:
    """What a case gives, and how far rounding may move its tensors: see `grader.checks.expect_close`."""

    value: Any
    ulps: float | None
    scale: float | None


def encode(value: Any) -> Encoded:
    """Nested plain data, ready for `json.dumps`.

    Raises:
        TypeError: for anything that is not a tensor, number, string, None, or a container of these.
    """
    kind = type(value)
    if isinstance(value, Rough):
        return ["r", value.ulps, value.scale, encode(value.value)]
    if isinstance(value, Tensor):
        return _encode_tensor(value)
    if kind is bool:
        return ["b", value]
    if kind is int:
        return ["i", str(value)]
    if kind is float:
        return ["f", repr(value)]
    if kind is str:
        return ["s", value]
    if value is None:
        return ["n"]
    if isinstance(value, dict):
        return ["d", [[str(key), encode(item)] for key, item in value.items()]]
    if isinstance(value, (list, tuple)):
        return ["l", [encode(item) for item in value]]
    if isinstance(value, (torch.dtype, torch.device)):
        return ["s", str(value)]
    raise TypeError(f"the oracle returned a {kind.__name__}, which is not plain data")


def _encode_tensor(value: Tensor) -> Encoded:
    # Not `contiguous`, to which one number of any stride is contiguous already.
    plain = value.detach().cpu().clone(memory_format=torch.contiguous_format)
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    raw = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return ["t", str(plain.dtype).removeprefix("torch."), list(plain.shape), base64.b64encode(raw).decode()]
