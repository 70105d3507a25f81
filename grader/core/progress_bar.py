"""A progress bar for what takes longer than a moment: on standard error, and only on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bar

Progress = Callable[[int, int], None]
"""Told again and again how much is done, and of how much."""


def silent(done: int, total: int) -> None:
    """For whoever does not want to know."""


@contextmanager
def bar(console: Console, what: str) -> Iterator[Progress]:
    """Show a bar until the context ends; it is gone then."""
    with Bar(console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
