"""Why spawned workers did not give what was asked of them, in lines that a learner reads."""

import pickle
from collections.abc import Iterator
from typing import Any

import torch

from grader.checks.failure import CheckFailure
from grader.diagnose.describe import without_addresses

DEPTH = 4
"""How far into an object its parts are looked at."""

_TRACEBACK = "Traceback (most recent call last):"
_ANEW = "it imports your file anew, and has what that brings and what is pickled: nothing set up since"
_LIKELY = {
    "<lambda>": "a lambda has no name to be found by: write a function at the top level of the file",
    "local object": "what is defined in a function cannot be found from outside: move it to the top level",
    "'generator'": "a generator stands in the middle of its code: begin it where it is read",
    "start a new process": 'workers run the file too: start nothing but below `if __name__ == "__main__":`',
}


def expect_picklable(name: str, value: object) -> None:
    """Fail, naming the part that is at fault, unless a value can be sent to a spawned worker."""
    if (found := _unpicklable(name, value)) is not None:
        part, why = found
        raise _failure(f"{part} cannot be pickled, and so does not reach a spawned worker", why)


def failure_of(error: Exception, said: str, late: str, dataset: object) -> CheckFailure:
    """What to raise for an error of a loader with spawned workers.

    Args:
        said: what the workers wrote to stderr.
        late: why they were killed, where that came before.
    """
    if "in DataLoader worker process" in str(error):
        return _failure("a spawned worker raises", last_error(str(error)), _ANEW)
    cause = last_error(said)
    if late or cause:
        generator = _generator("dataset", dataset)
        likely = f"{generator} is a torch.Generator, which a spawned worker cannot be given"
        return _failure(late or "a spawned worker dies as it starts", cause, likely if generator else "")
    first = (str(error).splitlines() or [""])[0]
    return _failure("a loader with spawned workers fails", f"{type(error).__name__}: {first}")


def last_error(text: str) -> str:
    """The error of the last traceback in a text, in one line; "" where there is none."""
    _, found, rest = text.rpartition(_TRACEBACK)
    lines = rest.splitlines()[1:]
    place = next((i for i, line in enumerate(lines) if line and not line[0].isspace()), None)
    if not found or place is None:
        return ""
    words = " ".join(line.strip() for line in lines[place : place + 2])
    return words if lines[place].rstrip().endswith(":") else lines[place].strip()


def _failure(what: str, yours: str, likely: str = "") -> CheckFailure:
    yours = without_addresses(yours)[:160]
    likely = next((text for word, text in _LIKELY.items() if word in yours), likely)
    return CheckFailure(what, likely=likely, **({"yours": yours} if yours else {}))


def _unpicklable(name: str, value: object, depth: int = DEPTH) -> tuple[str, str] | None:
    """The innermost part that pickle refuses, and its reason; None where it takes the whole."""
    try:
        pickle.dumps(value)
    except Exception as error:
        inner = (_unpicklable(*part, depth - 1) for part in _parts(name, value) if depth)
        return next(filter(None, inner), (name, f"{type(error).__name__}: {error}"))
    return None


def _generator(name: str, value: object, depth: int = DEPTH) -> str | None:
    """Where a value holds a torch.Generator."""
    if isinstance(value, torch.Generator):
        return name
    inner = (_generator(*part, depth - 1) for part in _parts(name, value) if depth)
    return next(filter(None, inner), None)


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
