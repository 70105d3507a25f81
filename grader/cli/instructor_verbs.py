"""What an instructor asks for."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import (
    Adapters,
    AsJson,
    Gradebook,
    Handout,
    Only,
    Results,
    Roster,
    Set,
    Solution,
    Suite,
)
from grader.cli.program import app, err, out


class Sandbox(str, Enum):
    """Whether answers must be confined."""

    required = "required"
    off = "off"


@app.command()
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(
            help="a folder with one folder or archive per student, what Canvas, Moodle, GitHub Classroom or "
            "nbgrader hand out, or one student's"
        ),
    ],
    results: Annotated[Path, typer.Option("--out", help="where results go")] = Path("results"),
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="answers at a time, on each worker of a cluster (default: cores)"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="draw inputs from this seed (default: that of the results)"),
    ] = None,
    only: Only = None,
    assignment: Set = None,
    gradebook: Annotated[
        str | None, typer.Option("--gradebook", metavar="URL", help="nbgrader gradebook")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="ADDRESS", help="judge on a Dask scheduler's workers")
    ] = None,
    sandbox: Annotated[
        Sandbox, typer.Option("--sandbox", help="confine answers, or do not")
    ] = Sandbox.required,
    roster: Roster = None,
    times: Annotated[
        Path | None,
        typer.Option(
            "--times", metavar="FILE", help="when work came: a CSV of student, assignment (optional), time"
        ),
    ] = None,
    suite: Suite = None,
    adapter: Adapters = None,
    handout: Handout = None,
    solution: Solution = None,
    as_json: AsJson = False,
) -> None:
    """Grade a class's submissions. Exercises that this run does not judge keep their results."""
    from grader.cli import instructor
    from grader.cli import suite as by_suite

    confined = sandbox is Sandbox.required
    if suite is None:
        by_suite.expect_with_suite(adapter, handout, solution)
        done = instructor.grade(
            submissions,
            results=results,
            jobs=jobs,
            seed=seed,
            only=instructor.asked_for(only, assignment),
            gradebook=gradebook,
            cluster=cluster,
            confined=confined,
            as_json=as_json,
            roster=roster,
            times=times,
            out=out,
            err=err,
        )
    else:
        others: dict[str, object] = {"--seed": seed, "--only": only, "--assignment": assignment}
        others |= {"--gradebook": gradebook, "--cluster": cluster, "--times": times}
        by_suite.expect_none(others, "does not go with --suite, which runs all of its tests, on this machine")
        done = by_suite.grade(
            submissions,
            suite,
            adapters=adapter or (),
            handout=handout,
            solution=solution,
            results=results,
            jobs=jobs,
            confined=confined,
            as_json=as_json,
            roster=roster,
            out=out,
            err=err,
        )
    if not done:
        raise typer.Exit(1)


@app.command()
def release(
    target: Annotated[Path, typer.Argument(help="a new folder outside this clone", metavar="OUT")],
    only: Only = None,
    assignment: Set = None,
) -> None:
    """Make a repository for students: no solutions, no hidden suites."""
    from grader.cli import instructor
    from grader.publish import release as releasing

    chosen = instructor.handed_out(only, assignment)
    instructor.tell_of_unfinished(chosen, err)
    count = releasing.release(target, chosen)
    out.print(f"{target}: {count} exercise{'s' if count != 1 else ''} for students", markup=False)


@app.command()
def notebooks(
    target: Annotated[Path, typer.Argument(help="a new folder: the nbgrader course", metavar="OUT")],
    only: Only = None,
    assignment: Set = None,
) -> None:
    """Make an nbgrader course: a source notebook for every section, or for every assignment of the course."""
    from grader.cli import instructor
    from grader.course.catalog import load
    from grader.nbgrader import source_notebooks

    chosen = instructor.handed_out(only, assignment)
    instructor.tell_of_unfinished(chosen, err)
    made = source_notebooks.write(target, load(), chosen)
    out.print(f"{target}: {len(made)} notebook{'s' if len(made) != 1 else ''}", markup=False)
    if folders := ", ".join(e.slug for e in load().select(chosen) if e.is_project):
        out.print(
            f"left out, as answers are folders: {folders}; hand these out by `kata release`", markup=False
        )
    out.print(f"next: cd {target} && nbgrader generate_assignment {made[0]}", markup=False)


@app.command()
def export(
    results: Results = Path("results"),
    format: Annotated[str, typer.Option("--format", help="csv, canvas, json or gradescope")] = "csv",
    to: Annotated[
        Path | None,
        typer.Option("--to", help="a file (default: standard output); for gradescope a folder"),
    ] = None,
    gradebook: Gradebook = None,
    assignment: Set = None,
    roster: Roster = None,
) -> None:
    """Write results as a table for other programs."""
    from grader.cli import corrections, instructor

    corrected = corrections.of(results, gradebook, err)
    instructor.export(results, format, to, corrected, assignment, roster, err)


@app.command()
def report(
    results: Results = Path("results"),
    to: Annotated[Path, typer.Option("--to", help="a folder for the pages")] = Path("report"),
    gradebook: Gradebook = None,
    assignment: Set = None,
    roster: Roster = None,
    download: Annotated[
        Path | None,
        typer.Option(
            "--zip",
            metavar="DOWNLOAD",
            help="what Canvas or Moodle gave you: also pack the pages as it takes them back",
        ),
    ] = None,
) -> None:
    """Write a page for each student and one for the class."""
    from grader import report as reporting
    from grader.cli import corrections
    from grader.course.roster import load

    corrected = corrections.of(results, gradebook, err)
    reporting.run(results, to, out, err, corrected, assignment, load(roster), download)


@app.command()
def similar(
    submissions: Annotated[Path, typer.Argument(help="a folder with one folder per student")] = Path(
        "submissions"
    ),
    to: Annotated[Path, typer.Option("--out", help="the page")] = Path("similar.html"),
    threshold: Annotated[
        int, typer.Option("--threshold", min=1, max=100, help="percent alike from which a pair is shown")
    ] = 50,
    most: Annotated[int, typer.Option("--most", min=1, help="pairs on the page")] = 50,
    only: Only = None,
    assignment: Set = None,
    suite: Suite = None,
    adapter: Adapters = None,
    handout: Handout = None,
    solution: Solution = None,
) -> None:
    """Show which students' answers are alike where those of others are not."""
    from grader import similar as comparing
    from grader.cli import instructor
    from grader.cli import suite as by_suite

    asked, own = None, None
    if suite is None:
        by_suite.expect_with_suite(adapter, handout, solution)
        asked = instructor.asked_for(only, assignment)
    else:
        by_suite.expect_none({"--only": only, "--assignment": assignment}, "does not go with --suite")
        own = by_suite.assignment(submissions, suite, adapter or (), handout, solution)
    comparing.run(submissions, to, threshold, most, asked, out, err, own)
