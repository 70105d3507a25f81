"""What a learner asks for."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.verbs import Verbs
from grader.program.app import app, err, out
from grader.program.options import AsJson

Name = Annotated[
    str,
    typer.Argument(help="an exercise: merge_heads, a beginning of that, e01/ex12, or its file"),
]


def settle() -> None:
    """Find out what was lost of what is known of the answers, where something was."""
    from grader.records import progress

    if progress.lost():
        from grader.learner import anew  # which needs what judges

        anew.settle(err)


@app.callback(cls=Verbs, invoke_without_command=True)
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        status()


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show every section: what is done, what fails, what is to do; and what was solved this week."""
    from grader.learner import course_map

    settle()
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

    settle()
    listing.show(out, " ".join(topic or ()))


@app.command()
def find(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="a symptom, a call, an idea, an error's message (default: a traceback, piped or pasted)"
        ),
    ] = None,
) -> None:
    """Find what to look at for a symptom, what a message means, where a call or an idea is met."""
    from grader.learner import found

    if not words and sys.stdin.isatty():
        err.print("paste the error, or say what you see; Ctrl-D on a line of its own ends it", style="dim")
    found.show(out, " ".join(words) if words else sys.stdin.read(found.MOST_PASTED))


@app.command()
def read(
    name: Annotated[str, typer.Argument(help="a section, a call, a step or an exercise: e01, gather")],
) -> None:
    """Read the chapter of a section, at a call where one is named."""
    from grader.learner import reading

    reading.show(out, name)


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

    settle()
    session.run(out, place, fine=fine, path=path, test_out=test_out)


@app.command()
def see(
    section: Annotated[str, typer.Argument(help="a section (default: where you are)")] = "",
) -> None:
    """See a small thing that your own answers to a section make: a fitted line, a loss that falls."""
    from grader.learner import seen

    settle()
    seen.show(out, section)


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

    settle()
    done = None if exercise else doing.finished(load())
    if done:
        out.print(doing.compared(done))
        return
    slug = doing.begin(exercise).slug
    out.print(f"{slug} is back at its start; your answer is kept, for the end")
    if terminal.here():
        session.run(out, slug)
    else:
        out.print(f"next: kata watch {slug}")


@app.command()
def path(
    name: Annotated[
        str,
        typer.Argument(
            help="first: steps and easy exercises, then the others; core: exercises; section: one section",
            metavar="[first|core|section]",
        ),
    ] = "",
    section: Annotated[str, typer.Argument(help="which section (default: where you are)")] = "",
) -> None:
    """Show or change your path through steps and exercises."""
    from grader.learner import commands

    out.print(commands.path(name, section))


@app.command()
def hint(exercise: Name) -> None:
    """Give the next hint for an exercise."""
    from grader.learner import commands

    out.print(commands.hint(exercise))


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
    out.print(commands.reset(slug))


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

    settle()
    out.print(commands.solution(exercise, reveal))


@app.command()
def update(
    course: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="a release that was unpacked, or another clone"),
    ] = None,
) -> None:
    """Bring in new statements, starts and checks; your answers stay."""
    from grader.publish import update as updating

    out.print("\n".join(updating.run(course)), markup=False)


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
        out.print(f"{target}: a course")
        out.print(f"next: cd {target}, and write what you set into course.toml")
        return
    count = learners_folder.write(target)
    out.print(f"{target}: {count} exercises")
    out.print(f"next: cd {target} && kata watch     (by uvx: uvx torchkata watch)")
    out.print("`pytest -k SLUG` judges in any shell; README.md there tells the rest")
