"""Load what fits: a checkpoint of another model, with other names, and a head of another size.

You fine-tune on five classes. The checkpoint's head has a thousand, and its names begin with "module.", as
DistributedDataParallel saves them. `load_state_dict(strict=False)` passes over other names, and raises at other shapes.
Load what fits; report the rest.

    model = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 5)})
    state = {"module.encoder.weight": torch.ones(4, 3), "module.head.weight": torch.ones(1000, 4),
             "queue": torch.ones(9)}
    load_partial(model, state, {"module.encoder.": "body.", "module.": ""})
    # LoadReport(loaded=["body.weight"], missing=["body.bias", "head.bias"], unexpected=["queue"],
    #            wrong_shape={"head.weight": ((1000, 4), (5, 4))})

- rename maps beginnings of names to new ones. Other names stay.
- A tensor is loaded if `model.state_dict()` has its new name in exactly its shape.
- Its numbers are copied into the model's own tensor: an optimizer from before goes on.
- `missing`: in the model, not in state. `unexpected`: the reverse. A wrong shape is neither.
- wrong_shape: the shape in state, then that in the model.

Fine print:
- If several beginnings fit, the longest counts. It is replaced once, at the start alone. "" fits every name.
- `loaded`, `missing` and `wrong_shape` are in the order of `model.state_dict()`, `unexpected` in that of state.
- `unexpected` has the names as they stand in state, before renaming.
- The model's tensors keep dtype, device, memory, requires_grad and `.grad`; tied ones stay tied.
- state may have other dtypes and devices. It stays as it is, and shares no memory with the model.
- A value that is no tensor, such as an epoch: TypeError with its name.
- Two names that become one: ValueError with the new name.
- Nothing can be loaded: ValueError. Such errors come before anything is loaded.
"""

from collections.abc import Mapping
from typing import NamedTuple

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
    """Load the tensors of `state` that fit into `model`, in place; tell what was loaded, and what was not."""
    raise NotImplementedError
