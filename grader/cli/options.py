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
AsJson = Annotated[bool, typer.Option("--json", help="print JSON, for scripts")]
