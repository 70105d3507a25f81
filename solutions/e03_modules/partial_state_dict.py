from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn


class LoadReport(NamedTuple):
    loaded: list[str]
    missing: list[str]
    unexpected: list[str]
    wrong_shape: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


def load_partial(
    model: nn.Module, state: Mapping[str, Tensor], rename: Mapping[str, str] | None = None
) -> LoadReport:
    old_names = _old_names(state, rename or {})
    own = model.state_dict()  # detached, and in the model's memory
    given = {name: state[old] for name, old in old_names.items()}
    shapes = {name: (tuple(given[name].shape), tuple(own[name].shape)) for name in own if name in given}
    report = LoadReport(
        loaded=[name for name, (theirs, ours) in shapes.items() if theirs == ours],
        missing=[name for name in own if name not in given],
        unexpected=[old for name, old in old_names.items() if name not in own],
        wrong_shape={name: pair for name, pair in shapes.items() if pair[0] != pair[1]},
    )
    if not report.loaded:
        raise ValueError(f"nothing fits: the model has {list(own)[:3]}, the state {list(old_names)[:3]}")
    with torch.no_grad():
        for name in report.loaded:
            own[name].copy_(given[name])
    return report


def _old_names(state: Mapping[str, Tensor], rename: Mapping[str, str]) -> dict[str, str]:
    old_names: dict[str, str] = {}  # by new names, in the state's order
    for old, value in state.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{old} is no tensor but {type(value).__name__}: is this a whole checkpoint?")
        prefix = max((p for p in rename if old.startswith(p)), key=len, default=None)
        new = old if prefix is None else rename[prefix] + old[len(prefix) :]
        if new in old_names:
            raise ValueError(f"both {old_names[new]} and {old} become {new}")
        old_names[new] = old
    return old_names
