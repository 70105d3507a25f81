"""Which verbs there are: all of them in a clone, a learner's in a release, elsewhere those of use there."""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup
from typer.main import get_group

from grader.core.errors import KataError
from grader.course import paths

_LEARNERS = (
    "status",
    "list",
    "find",
    "read",
    "watch",
    "see",
    "again",
    "path",
    "hint",
    "reset",
    "solution",
    "update",
    "init",
)
_AUTHORS = ("release", "audit", "new")
_OF_SUITES = {"grade": "grade-suite", "similar": "similar-suite"}
"""The verbs that took `--suite DIR` once, and those that do now what they did then."""


class Verbs(TyperGroup):
    """The group of all verbs, which shows and runs those that are of use here.

    Those of the classroom are imported once somebody asks for one, or for all.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        here = super().list_commands(ctx)
        there = () if paths.is_release() else _classroom()
        return [name for name in (*here, *there) if _is_of_use(name)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Raises KataError where this copy lacks what the verb needs."""
        found = super().get_command(ctx, cmd_name) or _classroom().get(cmd_name)
        if found is not None:
            expect_of_use(cmd_name)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, _as_spelled_now(args))


def _classroom() -> Mapping[str, Any]:
    from grader.classroom.cli import app, instructor_verbs, roster_verbs, suite_verbs  # noqa: F401

    return get_group(app).commands


def _is_of_use(verb: str) -> bool:
    if verb in _AUTHORS and (paths.ROOT / paths.FILE).exists():  # an instructor's course
        return True
    if paths.is_release():
        return verb in _LEARNERS
    return verb not in _AUTHORS or paths.is_clone() or not paths.EXERCISES.is_dir()


def expect_of_use(verb: str) -> None:
    """Raises KataError where this copy lacks what a verb needs."""
    if not _is_of_use(verb):
        raise KataError(f"`kata {verb}` needs what a copy for learners does not hold; run it in a clone")


def _as_spelled_now(args: list[str]) -> list[str]:
    """`kata grade … --suite DIR …` is `kata grade-suite DIR …`."""
    verb, *rest = args
    named = next((i for i, word in enumerate(rest) if word.split("=")[0] == "--suite"), None)
    if verb not in _OF_SUITES or named is None:
        return args
    before, (option, *after) = rest[:named], rest[named:]
    suite = [option.removeprefix("--suite=")] if "=" in option else after[:1]
    return [_OF_SUITES[verb], *suite, *before, *(after if "=" in option else after[1:])]
