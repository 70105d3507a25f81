"""Options that several verbs have."""

from pathlib import Path
from typing import Annotated

import typer

Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="EXERCISE|SECTION",
        help="this one only: merge_heads, a beginning of that, e01/ex12, a file, e01; repeat it for more",
    ),
]
Set = Annotated[
    str | None,
    typer.Option("--assignment", metavar="NAME", help="what course.toml sets under this name"),
]
Results = Annotated[Path, typer.Option("--results", help="where `kata grade` put its results")]
Roster = Annotated[
    Path | None,
    typer.Option("--roster", metavar="FILE", help="the course's students (default: its roster.csv)"),
]
Gradebook = Annotated[
    str | None,
    typer.Option(
        "--gradebook",
        metavar="URL|none",
        help="take its corrections and late penalties (default: the one that `kata grade` wrote)",
    ),
]
Suite = Annotated[
    Path | None,
    typer.Option("--suite", metavar="DIR", help="an assignment's own pytest suite instead of exercises"),
]
Adapters = Annotated[
    list[Path] | None,
    typer.Option(
        "--adapter",
        metavar="FILE",
        help="with --suite: a file that students write, if it lies among the tests; repeat it for more",
    ),
]
Handout = Annotated[
    Path | None,
    typer.Option(
        "--handout",
        metavar="DIR",
        help="with --suite: the repository that it lies in, as students get it, laid under each hand-in",
    ),
]
Solution = Annotated[
    Path | None,
    typer.Option(
        "--solution", metavar="DIR", help="with --suite: a repository that is to pass all of its tests"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON, for scripts")]
