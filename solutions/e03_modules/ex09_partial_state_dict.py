"""Load what fits: a checkpoint of another model, with other names, and a head of another size.

You fine-tune on five classes. The checkpoint holds a thousand, was saved under DistributedDataParallel (so
that every name starts with "module."), and calls the body "encoder". `load_state_dict(strict=False)` loads
nothing of it and says nothing; where only a shape differs, it raises.

    model = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 5)})
    state = {"module.encoder.weight": torch.ones(4, 3), "module.head.weight": torch.ones(1000, 4),
             "module.queue": torch.ones(9)}
    load_partial(model, state, {"module.": "", "module.encoder.": "body."})
    # LoadReport(loaded=["body.weight"], missing=["body.bias", "head.bias"], unexpected=["module.queue"],
    #            wrong_shape={"head.weight": ((1000, 4), (5, 4))})

Rules:
- rename maps old prefixes to new ones. A name that starts with an old prefix (it may end anywhere, not just
  at a dot) gets the new one in its place, once. If several fit, the longest counts. "" fits every name.
- A tensor is loaded if the model's `state_dict()` has its new name, in exactly its shape: (5, 1) is not
  (5,), and (1,) is not (). So parameters and saved buffers are loaded alike.
- Loading copies numbers into the tensors that the model has. They stay the same objects in the same memory,
  in their own dtype and on their own device, with their requires_grad and .grad: an optimizer that holds
  them goes on, and tied parameters stay tied. Afterwards model and state share no memory, and no graph.
- Nothing else changes: not the model's other tensors, nor its mode, nor state. state is any mapping; its
  tensors may be of any dtype, on any device, parameters or views.
- The report: `loaded`, `missing` (in the model, not in state) and `wrong_shape` go by the model's names, in
  the order of `model.state_dict()`: each of these names is in exactly one of the three. `unexpected` lists
  what has no place in the model, by its name in state before renaming, in state's order.

Bad input raises before anything is loaded: a value that is no tensor, such as an epoch, TypeError with
its name (as in state) in the message; two names of state that become one, ValueError with the new name in
the message, also if the model lacks it; a state of which nothing at all can be loaded, ValueError.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn


class LoadReport(NamedTuple):
    """What became of each name. `wrong_shape` maps to the shape in the state and that in the model."""

    loaded: list[str]
    missing: list[str]
    unexpected: list[str]
    wrong_shape: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


def load_partial(
    model: nn.Module, state: Mapping[str, Tensor], rename: Mapping[str, str] | None = None
) -> LoadReport:
    """Load the tensors of `state` that fit into `model`, in place.

    Args:
        model: the model to load into.
        state: tensors by name.
        rename: new prefixes by old ones; None to keep all names.

    Returns:
        What was loaded, and what was not.

    Raises:
        TypeError: a value of `state` is no tensor.
        ValueError: two names become one, or nothing can be loaded.
    """
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
    """The names in the state, by their new names, in the state's order."""
    old_names: dict[str, str] = {}
    for old, value in state.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{old} is no tensor but {type(value).__name__}: is this a whole checkpoint?")
        prefix = max((p for p in rename if old.startswith(p)), key=len, default=None)
        new = old if prefix is None else rename[prefix] + old[len(prefix) :]
        if new in old_names:
            raise ValueError(f"both {old_names[new]} and {old} become {new}")
        old_names[new] = old
    return old_names
