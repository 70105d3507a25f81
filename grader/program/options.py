"""Options that several verbs have."""

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
AsJson = Annotated[bool, typer.Option("--json", help="print JSON, for scripts")]
