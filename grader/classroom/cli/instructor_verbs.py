"""What an instructor asks for."""

from pathlib import Path
from typing import Annotated

import typer

from grader.classroom.cli import app
from grader.classroom.cli.options import (
    ClassOptions,
    Confinement,
    ExerciseOptions,
    Gradebook,
    Jobs,
    Most,
    Out,
    Page,
    Results,
    Roster,
    SandboxOption,
    Set,
    Submissions,
    Threshold,
)
from grader.program.app import err, out
from grader.program.options import AsJson, Only


@app.command()
def grade(
    submissions: Submissions,
    results: Out = Path("results"),
    jobs: Jobs = None,
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
        str | None,
        typer.Option(
            "--cluster", metavar="ADDRESS", help="judge on a Dask scheduler's workers; --jobs is for each"
        ),
    ] = None,
    sandbox: Confinement = SandboxOption.required,
    roster: Roster = None,
    times: Annotated[
        Path | None,
        typer.Option(
            "--times", metavar="FILE", help="when work came: a CSV of student, assignment (optional), time"
        ),
    ] = None,
    variants: Annotated[
        Path | None,
        typer.Option(
            "--variants",
            metavar="FILE",
            help="who got which variant of capstones, as `kata release --variants` wrote it",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Grade a class's submissions. Exercises that this run does not judge keep their results."""
    from grader.classroom.cli import instructor

    asked = instructor.asked_for(only, assignment)
    options = ClassOptions(submissions, results, jobs, sandbox is SandboxOption.required, roster, as_json)
    if not instructor.grade(
        options, ExerciseOptions(asked, seed, gradebook, cluster, times, variants), out, err
    ):
        raise typer.Exit(1)


@app.command()
def release(
    target: Annotated[Path, typer.Argument(help="a new folder outside this clone", metavar="OUT")],
    only: Only = None,
    assignment: Set = None,
    variants: Annotated[
        Path | None,
        typer.Option(
            "--variants", metavar="ROSTER", help="a repository for each student, with other bugs in capstones"
        ),
    ] = None,
) -> None:
    """Make a repository for students: no solutions, no hidden suites."""
    from grader.classroom.cli import instructor
    from grader.course import roster, variant_table
    from grader.publish import handouts
    from grader.publish import release as releasing

    chosen = instructor.handed_out(only, assignment)
    instructor.tell_of_unfinished(chosen, err)
    if variants is not None:
        students = roster.load(variants).students
        count = handouts.write(target, chosen, students)
        out.print(
            f"{target}: {count} exercise{'s' if count != 1 else ''} for each of {len(students)} students"
        )
        out.print(
            f"{target / variant_table.FILE}: who got which variant; keep it for `kata grade --variants`"
        )
        return
    count = releasing.release(target, chosen)
    out.print(f"{target}: {count} exercise{'s' if count != 1 else ''} for students")


@app.command()
def notebooks(
    target: Annotated[Path, typer.Argument(help="a new folder: the nbgrader course", metavar="OUT")],
    only: Only = None,
    assignment: Set = None,
) -> None:
    """Make an nbgrader course: a source notebook for every section, or for every assignment of the course."""
    from grader.classroom.cli import instructor
    from grader.classroom.nbgrader import source_notebooks
    from grader.course.catalog import load

    chosen = instructor.handed_out(only, assignment)
    instructor.tell_of_unfinished(chosen, err)
    made = source_notebooks.write(target, load(), chosen)
    out.print(f"{target}: {len(made)} notebook{'s' if len(made) != 1 else ''}")
    if folders := ", ".join(e.slug for e in load().select(chosen) if e.is_project):
        out.print(f"left out, as answers are folders: {folders}; hand these out by `kata release`")
    out.print(f"next: cd {target} && nbgrader generate_assignment {made[0]}")


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
    from grader.classroom.cli import corrections, instructor
    from grader.classroom.cli.roster import graded

    students = graded(results, roster, err)
    corrected = corrections.of(results, gradebook, students, err)
    instructor.export(results, format, to, corrected, assignment, students, err)


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
    from grader.classroom import report as reporting
    from grader.classroom.cli import corrections
    from grader.classroom.cli.roster import graded

    students = graded(results, roster, err)
    corrected = corrections.of(results, gradebook, students, err)
    reporting.run(results, to, out, err, corrected, assignment, students, download)


@app.command()
def similar(
    submissions: Submissions = Path("submissions"),
    to: Page = Path("similar.html"),
    threshold: Threshold = 50,
    most: Most = 50,
    only: Only = None,
    assignment: Set = None,
) -> None:
    """Show which students' answers are alike where those of others are not."""
    from grader.classroom import similar as comparing
    from grader.classroom.cli import instructor

    asked = instructor.asked_for(only, assignment)
    comparing.run(submissions, to, threshold, most, asked, out, err)
