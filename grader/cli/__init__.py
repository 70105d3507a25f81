"""The command line: `kata VERB`, or `python -m grader VERB`.

Verbs import what they need themselves, so that `kata hint` does not wait for torch.
"""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.cli.verbs import Verbs
from grader.core.errors import KataError
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
    cls=Verbs,
    epilog=EXIT_STATUS if paths.is_release() else EXIT_STATUS_OF_ALL,
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

Name = Annotated[
    str,
    typer.Argument(help="an exercise: merge_heads, a beginning of that, e01/ex12, or its file"),
]
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


class Sandbox(str, Enum):
    """Whether answers must be confined."""

    required = "required"
    off = "off"


def main() -> None:
    """Run a verb. Bad input is told in one line and ends with status 2."""
    try:
        app()
    except KataError as error:
        err.print(f"kata: {error}", markup=False)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        status()


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show every section: what is done, what fails, what is to do; and what was solved this week."""
    from grader.learner import course_map

    if as_json:
        out.print_json(data=course_map.data())
    else:
        course_map.show(out)


@app.command(name="list")
def list_(
    topic: Annotated[
        list[str] | None, typer.Argument(help="a section, or words of a name or a concept")
    ] = None,
) -> None:
    """List steps and exercises: all, those of a section, or those about something."""
    from grader.learner import listing

    listing.show(out, " ".join(topic or ()))


@app.command()
def find(
    words: Annotated[
        list[str], typer.Argument(help="a call, a concept, or an error's message as it was printed")
    ],
) -> None:
    """Find where a call, a concept or an error's message is met."""
    from grader.learner import listing

    listing.find(out, " ".join(words))


@app.command()
def watch(
    place: Annotated[
        str, typer.Argument(metavar="[EXERCISE|SECTION]", help="where to begin (default: where you were)")
    ] = "",
    fine: Annotated[
        bool, typer.Option("--fine", help="a second round, through the fine print of what does its job")
    ] = False,
    path: Annotated[
        str, typer.Option("--path", metavar="first|core|SECTION", help="another path, this once")
    ] = "",
    test_out: Annotated[
        str,
        typer.Option(
            "--test-out",
            metavar="SECTION",
            help="two exercises; who does their jobs knows the section's steps",
        ),
    ] = "",
) -> None:
    """Judge each exercise as you save it."""
    from grader.learner.watch import session

    session.run(out, place, fine=fine, path=path, test_out=test_out)


@app.command()
def again(
    exercise: Annotated[
        str, typer.Argument(help="one that you solved (default: what is due, the longest first)")
    ] = "",
) -> None:
    """Do an exercise again that you solved a while ago; at its end, see then and now side by side."""
    from grader.course.catalog import load
    from grader.learner import again as doing
    from grader.learner.watch import session, terminal

    done = None if exercise else doing.finished(load())
    if done:
        out.print(doing.compared(done))
        return
    slug = doing.begin(exercise).slug
    out.print(f"{slug} is back at its start; your answer is kept, for the end", markup=False)
    if terminal.here():
        session.run(out, slug)
    else:
        out.print(f"next: kata watch {slug}", markup=False)


@app.command()
def path(
    name: Annotated[
        str,
        typer.Argument(
            help="first: all steps, then the exercises; core: the exercises; section: one section",
            metavar="[first|core|section]",
        ),
    ] = "",
    section: Annotated[str, typer.Argument(help="which section (default: where you are)")] = "",
) -> None:
    """Show or change your path through steps and exercises."""
    from grader.learner import commands

    out.print(commands.path(name, section), markup=False)


@app.command()
def hint(exercise: Name) -> None:
    """Give the next hint for an exercise."""
    from grader.learner import commands

    out.print(commands.hint(exercise), markup=False)


@app.command()
def reset(
    exercise: Name, yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False
) -> None:
    """Put an exercise's start back; your file is kept as a backup."""
    from grader.course.catalog import load
    from grader.learner import commands

    slug = load().find(exercise).slug
    if not yes and not typer.confirm(f"Put the start of {slug} back? Your file is kept under .kata/backups"):
        raise typer.Exit(1)
    out.print(commands.reset(slug), markup=False)


@app.command()
def solution(
    exercise: Name,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal", help="after the last hint, though yours does not work; noted in `kata status`"
        ),
    ] = False,
) -> None:
    """Show how the reference differs from your answer, once yours does its job."""
    from grader.learner import commands

    out.print(commands.solution(exercise, reveal), markup=False)


@app.command()
def init(
    target: Annotated[Path, typer.Argument(help="a new or empty folder", metavar="DIR")],
    course: Annotated[
        bool, typer.Option("--course", help="an instructor's: course.toml and roster.csv, to be filled in")
    ] = False,
) -> None:
    """Make a learner's folder: exercises, checks and solutions. Or, with --course, an instructor's."""
    from grader.publish import course_folder, learners_folder

    if course:
        course_folder.write(target)
        out.print(f"{target}: a course", markup=False)
        out.print(f"next: cd {target}, and write what you set into course.toml", markup=False)
        return
    count = learners_folder.write(target)
    out.print(f"{target}: {count} exercises", markup=False)
    out.print(f"next: cd {target} && kata watch     (by uvx: uvx torchkata watch)", markup=False)
    out.print("`pytest -k SLUG` judges in any shell; README.md there tells the rest", markup=False)


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
    as_json: AsJson = False,
) -> None:
    """Grade a class's submissions. Exercises that this run does not judge keep their results."""
    from grader.cli import instructor

    done = instructor.grade(
        submissions,
        results=results,
        jobs=jobs,
        seed=seed,
        only=instructor.asked_for(only, assignment),
        gradebook=gradebook,
        cluster=cluster,
        confined=sandbox is Sandbox.required,
        as_json=as_json,
        roster=roster,
        times=times,
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

    count = releasing.release(target, instructor.handed_out(only, assignment))
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

    made = source_notebooks.write(target, load(), instructor.handed_out(only, assignment))
    out.print(f"{target}: {len(made)} notebook{'s' if len(made) != 1 else ''}", markup=False)
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
) -> None:
    """Write results as a table for other programs."""
    from grader.cli import corrections, instructor

    instructor.export(results, format, to, corrections.of(results, gradebook, err), assignment, err)


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
) -> None:
    """Show which students' answers are alike where those of others are not."""
    from grader import similar as comparing
    from grader.cli import instructor

    comparing.run(submissions, to, threshold, most, instructor.asked_for(only, assignment), out, err)


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
    kind: Annotated[str, typer.Option("--kind", help="build or fix")] = "build",
    step: Annotated[bool, typer.Option("--step", help="a first step: four files, one suite")] = False,
) -> None:
    """Make the files and the catalog row of a new exercise, as a beginning that the audit reads."""
    from grader.authoring import skeleton

    for path in skeleton.write(section, slug, kind, step=step):
        out.print(f"made {path}", markup=False)
