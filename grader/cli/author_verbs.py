"""What those who write exercises ask for."""

from typing import Annotated

import typer

from grader.cli.options import AsJson, Only
from grader.cli.program import app, err, out


@app.command()
def audit(
    only: Only = None,
    write_starts: Annotated[
        bool, typer.Option("--write-starts", help="first take the files in exercises/ for the starts")
    ] = False,
    redundant: Annotated[
        bool, typer.Option("--redundant", help="only list wrong specimens that fail as another does")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Try every suite on stubs, null answers, solutions and specimens."""
    from grader.cli import author

    if redundant:
        author.redundant(only, as_json, out, err)
        return
    if not author.audit(only, as_json, out, err, write_starts=write_starts):
        raise typer.Exit(1)


@app.command()
def new(
    section: Annotated[str, typer.Argument(help="a section, such as e01_tensors")],
    slug: Annotated[str, typer.Argument(help="its name: lower-case words, joined by _")],
    kind: Annotated[str, typer.Option("--kind", help="build, fix, or project: a folder of files")] = "build",
    step: Annotated[bool, typer.Option("--step", help="a first step: four files, one suite")] = False,
) -> None:
    """Make the files and the catalog row of a new exercise, as a beginning that the audit reads."""
    from grader.authoring import skeleton

    for path in skeleton.write(section, slug, kind, step=step):
        out.print(f"made {path}", markup=False)
    out.print(f"next: kata audit --only {slug}     (lists what is to be written)", markup=False)
