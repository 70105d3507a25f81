"""Private names of torch and asyncio that checks need, each under a name of ours.

Tried with torch 2.11 and 2.13, and Python 3.11.
"""

import os
from asyncio import AbstractEventLoop, TimerHandle
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch._C import _profiler as _c_profiler
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


class Event(NamedTuple):
    """An operation that torch's profiler noted, or the end of its notes; times are nanoseconds."""

    name: str
    thread: int
    begin: int
    end: int


_profiler: Any = torch.autograd
_parts: Any = _c_profiler
_END = "kata: the end"


def start_profiler() -> None:
    """Have torch note every operation of this process, of whatever thread. Another profile ends by it."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or it tells of its own doings
    settings = _parts._ExperimentalConfig(profile_all_threads=True)
    config = _parts.ProfilerConfig(_parts.ProfilerState.KINETO, *[False] * 5, settings)
    kinds = {_parts.ProfilerActivity.CPU}
    _profiler._prepare_profiler(config, kinds)
    _profiler._enable_profiler(config, kinds, {_parts.RecordScope.FUNCTION, _parts.RecordScope.USER_SCOPE})


def stop_profiler() -> tuple[list[Event], int | None]:
    """The operations since, as they began, and this thread's number; None where it was ended before."""
    with _parts._RecordFunctionFast(_END):
        pass
    told = _profiler._disable_profiler().events()
    events = [(e.scope(), Event(e.name(), e.start_thread_id(), e.start_ns(), e.end_ns())) for e in told]
    here = [event.thread for _, event in events if event.name == _END]
    operations = (event for scope, event in events if scope == _parts.RecordScope.FUNCTION.value)
    return sorted(operations, key=lambda event: (event.begin, -event.end)), here[-1] if here else None
