"""What comes back from workers, understood or refused."""

import asyncio
import concurrent.futures
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grader.core.sanitize import plain
from grader.protocol.check import CheckSpec

FETCH = 30.0
"""Seconds for one try at fetching a reply."""

NO_REPLY = "what it replies cannot be understood; look at its log, and start it again"

Inventory = dict[str, list[CheckSpec]]


class WorkerRefused(Exception):
    """Why a worker may not judge, with what to do about it."""


def fetch(future: Any) -> dict[str, Any] | None:
    """What a worker has replied; None where Dask has given the task up.

    Raises:
        TimeoutError: it has not come yet.
        WorkerRefused: the worker could not do it, or replies what it should not.
    """
    if future.status == "cancelled":
        return None
    if future.status == "error":
        raise WorkerRefused(
            "it or the scheduler cannot load torchkata; start both in a clone like this one, with its Python"
        )
    try:
        reply = json.loads(future.result(timeout=FETCH))
    except (TimeoutError, asyncio.TimeoutError):
        raise TimeoutError from None
    except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError):
        return None  # the connection is gone
    except Exception:  # no text, no JSON, or a pickle that is more than data
        raise WorkerRefused(NO_REPLY) from None
    if not isinstance(reply, dict):
        raise WorkerRefused(NO_REPLY)
    if "fault" in reply:
        raise WorkerRefused(str(reply["fault"]))
    return reply


def inventory(data: Any) -> Inventory:
    try:
        return {str(slug): [_spec(**check) for check in checks] for slug, checks in data.items()}
    except (AttributeError, TypeError):
        raise WorkerRefused(NO_REPLY) from None


def _spec(
    id: str, title: str, lacks: str | None, fine: bool = False, of: str = "", refuses: Sequence[str] = ()
) -> CheckSpec:
    lack = None if lacks is None else plain(str(lacks))[:80]
    return CheckSpec(str(id), str(title), lack, bool(fine), str(of), tuple(map(str, refuses)))


def lacking(inventory: Inventory | None) -> set[tuple[str, str]]:
    return {(c.id, c.lacks) for checks in (inventory or {}).values() for c in checks if c.lacks}


def with_lacks(ours: Inventory, theirs: Inventory) -> Inventory:
    """Our checks, and what the workers lack for them."""
    lacks = {(slug, check.id): check.lacks for slug, checks in theirs.items() for check in checks}
    return {
        slug: [replace(check, lacks=lacks.get((slug, check.id))) for check in checks]
        for slug, checks in ours.items()
    }


def first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]
