"""What an instructor's verbs are asked for: options that several have, and what is passed on whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

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
Out = Annotated[Path, typer.Option("--out", help="where results go")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="answers at a time (default: one for each core)")
]


class SandboxOption(str, Enum):
    """Whether answers must be confined."""

    required = "required"
    off = "off"


Confinement = Annotated[SandboxOption, typer.Option("--sandbox", help="confine answers, or do not")]
Submissions = Annotated[
    Path,
    typer.Argument(
        metavar="SUBMISSIONS",
        help="a folder with one folder or archive per student, what Canvas, Moodle, GitHub Classroom or "
        "nbgrader hand out, or one student's",
    ),
]
Page = Annotated[Path, typer.Option("--out", help="the page")]
Threshold = Annotated[
    int, typer.Option("--threshold", min=1, max=100, help="percent alike from which a pair is shown")
]
Most = Annotated[int, typer.Option("--most", min=1, help="pairs on the page")]
Suite = Annotated[
    Path, typer.Argument(metavar="SUITE", help="an assignment's own pytest suite: the folder of its tests")
]
Adapters = Annotated[
    list[Path] | None,
    typer.Option(
        "--adapter",
        metavar="FILE",
        help="a file that students write, if it lies among the tests; repeat it for more",
    ),
]
Handout = Annotated[
    Path | None,
    typer.Option(
        "--handout",
        metavar="DIR",
        help="the repository that the tests lie in, as students get it, laid under each hand-in",
    ),
]
Solution = Annotated[
    Path | None,
    typer.Option("--solution", metavar="DIR", help="a repository that is to pass all of the tests"),
]


@dataclass(frozen=True)
class ClassOptions:
    """Whose work is graded, and how; `jobs` answers at a time, or one a core."""

    submissions: Path
    results: Path
    jobs: int | None = None
    confined: bool = True
    roster: Path | None = None
    as_json: bool = False


@dataclass(frozen=True)
class ExerciseOptions:
    """Which exercises are judged, on inputs of which seed and on which cluster, and where scores go besides.

    `times` is a table of when work came, `variants` one of who got which variant.
    """

    only: list[str] | None = None
    seed: int | None = None
    gradebook: str | None = None
    cluster: str | None = None
    times: Path | None = None
    variants: Path | None = None


@dataclass(frozen=True)
class SuiteOptions:
    """Where an assignment's own suite lies, and what goes with it."""

    suite: Path
    adapters: Sequence[Path] = ()
    handout: Path | None = None
    solution: Path | None = None
