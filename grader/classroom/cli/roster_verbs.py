"""What an instructor asks of the list of students."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.classroom.cli import app
from grader.classroom.cli.options import Results, Roster
from grader.program.app import err, out

roster = typer.Typer(help="The course's students.", no_args_is_help=True)
app.add_typer(roster, name="roster")


@roster.callback()
def of_students() -> None:
    """Whose the names are that platforms give to students' work."""


@roster.command()
def match(
    submissions: Annotated[Path, typer.Argument(help="what you would grade")],
    roster: Roster = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="a platform's table of its students, such as Moodle's grading worksheet",
        ),
    ] = None,
    results: Results = Path("results"),
    yes: Annotated[
        bool, typer.Option("--yes", help="take every name that may be one student's alone")
    ] = False,
) -> None:
    """Ask whose the names are that the roster does not know, and write them into it as aliases."""
    from grader.classroom.cli import roster as matching

    ask = sys.stdin.isatty()
    if not matching.match(submissions, roster, table, results, yes=yes, ask=ask, out=out, err=err):
        raise typer.Exit(1)
