"""Private names of torch and asyncio that checks need, each under a name of ours.

Tried with torch 2.11 and 2.13, and Python 3.11.
"""

from asyncio import AbstractEventLoop, TimerHandle
from importlib import import_module
from typing import Any

import torch
from torch.utils import _python_dispatch, _pytree

tree_leaves = _pytree.tree_leaves
tree_map_only = _pytree.tree_map_only

COMPILER = "torch._dynamo"
"""Takes half a second to import, and more."""
HIDDEN = "__dynamo_disable"
"""Where torch keeps, on a mode's `__torch_dispatch__`, what the compiler does not look into."""
FUNCTIONAL_COLLECTIVES = "torch.distributed._functional_collectives"
"""Not imported by torch itself."""
TENSOR_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")
"""Where a tensor keeps its hooks; None before the first."""


def compiler() -> Any:
    """The module of `torch.compile`, with its `exc` and its `config`."""
    return import_module(COMPILER)


def compiler_defaults() -> dict[str, Any]:
    """The default of every setting of the compiler that is no other name for one."""
    config = compiler().config
    known = config.get_config_copy()
    entries = config._config.items()
    return {name: entry.default for name, entry in entries if name in known and entry.alias is None}


def schema_of(op: Any) -> Any:
    """What an overload such as `torch.ops.aten.add.Tensor` takes and returns: a `torch.FunctionSchema`."""
    return op._schema


def delivered(nested: Any) -> Any:
    """Nested data, with what functional collectives have under way waited for."""
    on_its_way = import_module(FUNCTIONAL_COLLECTIVES).AsyncCollectiveTensor
    return tree_map_only(on_its_way, lambda t: t.wait(), nested)


def modes_off() -> Any:
    """A context in which no dispatch mode sees what runs."""
    return _python_dispatch._disable_current_modes()


def is_followed() -> bool:
    """Whether a dispatch mode or autograd's profiler sees what runs."""
    mode = _python_dispatch._get_current_dispatch_mode()
    return mode is not None or torch.autograd._profiler_enabled()  # type: ignore[attr-defined]


def timers(loop: AbstractEventLoop) -> list[TimerHandle]:
    """What an event loop of asyncio has still to call at some time."""
    scheduled: list[TimerHandle] = loop._scheduled  # type: ignore[attr-defined]
    return [handle for handle in scheduled if not handle.cancelled()]
