"""Which verbs there are: all of them in a clone, a learner's in a release."""

from typing import Any

from typer.core import TyperGroup

from grader.core.errors import KataError
from grader.course import paths

_LEARNERS = ("status", "watch", "hint", "reset", "solution")


class Verbs(TyperGroup):
    """The group of all verbs, which shows and runs those that are of use here."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [n for n in super().list_commands(ctx) if n in _LEARNERS or not paths.is_release()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Raises KataError where a release lacks what the verb needs."""
        found = super().get_command(ctx, cmd_name)
        if found is not None and cmd_name not in self.list_commands(ctx):
            raise KataError(
                f"`kata {cmd_name}` needs what a copy for students does not hold; run it in the clone that "
                "this copy was released from"
            )
        return found
