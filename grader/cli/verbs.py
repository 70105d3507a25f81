"""Which verbs there are: all of them in a clone, a learner's in a release, elsewhere those of use there."""

from typing import Any

from typer.core import TyperGroup

from grader.core.errors import KataError
from grader.course import paths

_LEARNERS = ("status", "list", "find", "watch", "again", "path", "hint", "reset", "solution", "init")
_AUTHORS = ("release", "audit", "new")


class Verbs(TyperGroup):
    """The group of all verbs, which shows and runs those that are of use here."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in super().list_commands(ctx) if _is_of_use(name)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Raises KataError where this copy lacks what the verb needs."""
        found = super().get_command(ctx, cmd_name)
        if found is not None and not _is_of_use(cmd_name):
            raise KataError(
                f"`kata {cmd_name}` needs what a copy for learners does not hold; run it in a clone"
            )
        return found


def _is_of_use(verb: str) -> bool:
    if verb in _AUTHORS and (paths.ROOT / paths.FILE).exists():  # an instructor's course
        return True
    if paths.is_release():
        return verb in _LEARNERS
    return verb not in _AUTHORS or paths.is_clone() or not paths.EXERCISES.is_dir()
