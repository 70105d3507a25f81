"""What those who write exercises ask for."""

from typing import Annotated

import typer

from grader.program.app import app, err, out
from grader.program.options import AsJson, Only


@app.command()
def audit(
    only: Only = None,
    write_starts: Annotated[
        bool, typer.Option("--write-starts", help="first take the files in exercises/ for the starts")
    ] = False,
    redundant: Annotated[
        bool, typer.Option("--redundant", help="only list wrong specimens that fail as another does")
    ] = False,
    feedback: Annotated[
        bool,
        typer.Option("--feedback", help="only list wrong specimens whose first message names no mistake"),
    ] = False,
    proportion: Annotated[
        bool,
        typer.Option("--proportion", help="only list wrong specimens that lose every case by one mistake"),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="take nothing from .kata/audit, where audits remember what they tried"),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Try every suite on stubs, null answers, solutions and specimens."""
    from grader.cli import author

    if redundant:
        author.redundant(only, as_json, out, err)
        return
    if proportion:
        author.proportion(only, as_json, out, err)
        return
    if feedback:
        author.feedback(only, as_json, out, err)
        return
    if not author.audit(only, as_json, out, err, write_starts=write_starts, fresh=fresh):
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
        out.print(f"made {path}")
    out.print(f"next: kata audit --write-starts --only {slug}     (lists what is to be written)")
