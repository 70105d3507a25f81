"""What whole programs with bugs are asked for by: `kata capstone`, by who mends them and who brings them."""

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.learner_verbs import settle
from grader.cli.verbs import expect_of_use
from grader.core.errors import KataError
from grader.program.app import app, out


@app.command()
def capstone(
    exercise: Annotated[
        str, typer.Argument(help="a whole program with bugs (default: tell of all)", metavar="[NAME]")
    ] = "",
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="which variant of it (default: the next that was not done)"),
    ] = None,
    tell: Annotated[
        bool, typer.Option("--list", help="only tell which there are, and which were done")
    ] = False,
    timer: Annotated[
        bool, typer.Option("--timer", help="keep how long each bug takes; else no time is kept or shown")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="of one that is done, what was wrong and how one finds it")
    ] = False,
    bring: Annotated[
        Path | None,
        typer.Option("--bring", metavar="FOLDER", help="make one of your own repository and its patches"),
    ] = None,
    section: Annotated[
        str, typer.Option("--section", help="for --bring: where it goes (default: e20_capstones)")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="for --bring: its name (default: the folder's)")] = "",
    patches: Annotated[
        Path | None,
        typer.Option(
            "--patches", metavar="FOLDER", help="for --bring: a patch for each bug (default: patches)"
        ),
    ] = None,
) -> None:
    """Lay out a whole program with five bugs; each number lays out others. Or bring one of your own."""
    if bring is not None:
        _bring(bring, section, name, patches)
        return
    if section or name or patches:
        raise KataError("--section, --name and --patches are for --bring FOLDER")
    from grader.learner import capstone as laying
    from grader.learner import debrief

    settle()
    if tell or not exercise:
        out.print("\n".join(laying.listed(exercise)), markup=False)
    elif page:
        out.print(debrief.shown(exercise, seed))
    else:
        out.print(laying.lay(exercise, seed, timer=timer), markup=False)


def _bring(folder: Path, section: str, name: str, patches: Path | None) -> None:
    from grader.authoring.bring import write

    expect_of_use("new")
    slug, lines = write.write(folder, section, name, patches)
    out.print("\n".join(lines), markup=False)
    out.print(f"next: kata audit --only {slug}     (lists what is to be written)")
