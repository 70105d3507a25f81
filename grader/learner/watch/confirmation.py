"""What a person is asked in `kata watch` before it is done: to show a solution early, to put a start back."""

from collections.abc import Callable
from typing import Protocol

from rich.console import RenderableType

from grader.core.errors import KataError
from grader.course import paths
from grader.learner import commands
from grader.learner.watch.folding import diff
from grader.learner.watch.walk import Walk


class Say(Protocol):
    """Shows a note below the verdict, until the next save, or as news until the one after."""

    def __call__(self, note: str, *, is_news: bool = False) -> None: ...


class Confirmation:
    """At most one question about the exercise in focus, which waits for `y`; any other key means no."""

    def __init__(self, walk: Walk, say: Say, draw: Callable[[RenderableType, str], None]) -> None:
        self._walk = walk
        self._say = say
        self._draw = draw
        self._do: Callable[[], None] | None = None

    @property
    def is_open(self) -> bool:
        return self._do is not None

    def drop(self) -> None:
        """Ask no more: the person did something else."""
        self._do = None

    def answer(self, letter: str) -> None:
        do, self._do = self._do, None
        try:
            do() if do and letter == "y" else self._say("nothing was changed")
        except KataError as error:
            self._say(str(error))

    def solve(self) -> None:
        """Show the reference, or offer to where all hints were given."""
        focus = self._walk.focus
        if commands.may_reveal(focus):
            told = f"Show the solution of {focus.slug}? `kata status` will say that you saw it. y / n"
            self._ask(told, self._reveal)
        else:
            self._reveal()

    def _reveal(self) -> None:
        focus = self._walk.focus
        text = commands.solution(focus.slug, reveal=True)
        file = paths.shown(focus.file("solutions"))
        self._draw(diff(text), f"all of it: {file}, or `kata solution {focus.slug}`")

    def restart(self) -> None:
        """Offer to put the start back."""
        focus = self._walk.focus
        file = paths.shown(focus.file("exercises"))
        self._ask(
            f"Put the start of {file} back? Your version is kept. y / n",
            lambda: self._say(commands.reset(focus.slug), is_news=True),
        )

    def _ask(self, question: str, do: Callable[[], None]) -> None:
        self._do = do
        self._say(question)
