"""What a kernel gives to every cell, for answers that were written in one. Nothing here does anything.

An answer that uses one of these names imports it from here (`grader.notebooks.notebook_answer`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("display", "get_ipython", "In", "Out")

In: list[str] = [""]
Out: dict[int, Any] = {}


def display(*objects: Any, **_: Any) -> None:
    """Print them, as IPython does where nothing else can be shown."""
    print(*objects, sep="\n")


class _Shell:
    """Takes every call, and gives nothing back."""

    def getoutput(self, *_: Any, **__: Any) -> list[str]:
        return []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


_SHELL = _Shell()


def get_ipython() -> _Shell:
    """The shell that magics and shell commands are calls of."""
    return _SHELL


@contextmanager
def demonstration() -> Iterator[None]:
    """Around what only shows something: where it fails, that is printed, and the answer counts."""
    try:
        yield
    except (Exception, SystemExit) as error:
        print(f"left out, since it only shows something and fails: {type(error).__name__}: {error}")
