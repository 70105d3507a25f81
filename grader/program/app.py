"""The program `kata`: what all its verbs share."""

import sys

import typer
from rich.console import Console

from grader.core.errors import KataError
from grader.core.output_encoding import replace_what_lacks
from grader.course import paths

EXIT_STATUS = "Exit status: 0 done; 2 bad input or something missing, as a line says; 130 interrupted."
EXIT_STATUS_OF_ALL = (
    "Exit status: 0 done; 1 done, but the audit found problems, answers were not judged by a fault of the "
    "grader, or scores did not reach the gradebook (or you said no); 2 bad input or something missing, as a "
    "line says; 130 interrupted. What students got wrong, and files of theirs that cannot be read, are no "
    "failure."
)

app = typer.Typer(
    help="A pytest-based kata for PyTorch, with autograded answers.",
    epilog=EXIT_STATUS if paths.is_release() else EXIT_STATUS_OF_ALL,
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
out = Console(highlight=False, markup=False, soft_wrap=True)  # names are text, in tables as well
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def main() -> None:
    """Run a verb. Bad input is told in one line and ends with status 2."""
    replace_what_lacks()
    try:
        app()
    except KataError as error:
        err.print(f"kata: {error}")
        sys.exit(2)
