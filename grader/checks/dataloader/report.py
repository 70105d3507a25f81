"""What keeps a value from a spawned worker, in lines that a learner reads."""

import pickle
from collections.abc import Iterator
from typing import Any

import torch

from grader.checks.failure import CheckFailure
from grader.core.sanitize import message_of
from grader.diagnose.describe import without_addresses

DEPTH = 4
"""How far into an object its parts are looked at."""

_LIKELY = {
    "<lambda>": "a lambda has no name to be found by: write a function at the top level of the file",
    "local object": "what is defined in a function cannot be found from outside: move it to the top level",
    "'generator'": "a generator stands in the middle of its code: begin it where it is read",
}


def expect_picklable(name: str, value: object) -> None:
    """Fail, naming the part that is at fault, unless a value can be sent to a spawned worker."""
    if (found := _unpicklable(name, value)) is not None:
        part, why = found
        yours = without_addresses(why)[:160]
        likely = next((text for word, text in _LIKELY.items() if word in yours), "")
        told = f"{part} cannot be pickled, and so does not reach a spawned worker"
        raise CheckFailure(told, yours=yours, likely=likely)


def _unpicklable(name: str, value: object, depth: int = DEPTH) -> tuple[str, str] | None:
    """The innermost part that pickle refuses, and its reason; None where it takes the whole."""
    try:
        pickle.dumps(value)
    except Exception as error:
        inner = (_unpicklable(*part, depth - 1) for part in _parts(name, value) if depth)
        return next(filter(None, inner), (name, f"{type(error).__name__}: {message_of(error)}"))
    return None


def _parts(name: str, value: Any) -> Iterator[tuple[str, object]]:
    """What is pickled with a value, each by the name that it has in it."""
    if isinstance(value, dict):
        yield from ((f"{name}[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"{name}[{i}]", part) for i, part in enumerate(value))
    elif not isinstance(value, torch.Tensor | type):
        try:
            state = value.__reduce_ex__(2)[2]
        except Exception:
            return
        if isinstance(state, dict):
            yield from ((f"{name}.{key}", part) for key, part in state.items())
