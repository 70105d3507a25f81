"""The hooks by which Python calls somebody at every call, line and return.

A check's names can be replaced while it runs and put back before anybody looks.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any

_KINDS: tuple[tuple[str, Callable[[], Any], Callable[[Any], None]], ...] = (
    ("sys.settrace", sys.gettrace, sys.settrace),
    ("sys.setprofile", sys.getprofile, sys.setprofile),
    ("threading.settrace", threading.gettrace, threading.settrace),
    ("threading.setprofile", threading.getprofile, threading.setprofile),
)
_MONITORING: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
_TOOLS = range(6)
"""Numbers that tools of `sys.monitoring` can take."""

_get_tool = _MONITORING.get_tool if _MONITORING else None

Hooks = tuple[object, ...]


def now() -> Hooks:
    """Those of this thread, those of threads to come, and the tools that monitor."""
    found = [get() for _, get, _ in _KINDS]
    return (*found, *(_get_tool(tool) for tool in _TOOLS)) if _get_tool else tuple(found)


def cleared(before: Hooks) -> str | None:
    """The first that is not what it was `before`, and none of those any more; None where all are."""
    found = now()
    if all(a is b for a, b in zip(found, before, strict=True)):
        return None
    changed = None
    for (name, _, put), hook, known in zip(_KINDS, found, before, strict=False):
        if hook is not known:
            put(known)
            changed = changed or name
    for tool, hook, known in zip(_TOOLS, found[len(_KINDS) :], before[len(_KINDS) :], strict=False):
        if hook is not known:
            _clear(tool)
    return changed or "sys.monitoring"


def _clear(tool: int) -> None:
    if _MONITORING.get_tool(tool) is not None:
        _MONITORING.set_events(tool, 0)
        _MONITORING.free_tool_id(tool)
