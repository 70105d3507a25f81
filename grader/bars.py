"""A progress bar for what takes longer than a moment: on standard error, and only on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

Told = Callable[[int, int], None]
"""How much is done, and of how much."""


@contextmanager
def bar(console: Console, what: str) -> Iterator[Told]:
    """Show a bar until the context ends; it is gone then."""
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
