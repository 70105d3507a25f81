"""What an instructor asks for whose assignment has tests of its own."""

from pathlib import Path

import typer

from grader.classroom.cli import app
from grader.classroom.cli.options import (
    Adapters,
    ClassOptions,
    Confinement,
    Handout,
    Jobs,
    Most,
    Out,
    Page,
    Roster,
    SandboxOption,
    Solution,
    Submissions,
    Suite,
    SuiteOptions,
    Threshold,
)
from grader.program.app import err, out
from grader.program.options import AsJson


@app.command()
def grade_suite(
    suite: Suite,
    submissions: Submissions,
    adapter: Adapters = None,
    handout: Handout = None,
    solution: Solution = None,
    results: Out = Path("results"),
    jobs: Jobs = None,
    sandbox: Confinement = SandboxOption.required,
    roster: Roster = None,
    as_json: AsJson = False,
) -> None:
    """Grade a class's submissions by tests of your own, all of them, on this machine."""
    from grader.classroom.cli import suite as by_suite

    options = ClassOptions(submissions, results, jobs, sandbox is SandboxOption.required, roster, as_json)
    if not by_suite.grade(options, SuiteOptions(suite, adapter or (), handout, solution), out, err):
        raise typer.Exit(1)


@app.command()
def similar_suite(
    suite: Suite,
    submissions: Submissions,
    adapter: Adapters = None,
    handout: Handout = None,
    solution: Solution = None,
    to: Page = Path("similar.html"),
    threshold: Threshold = 50,
    most: Most = 50,
) -> None:
    """Show which students' modules are alike where those of others are not."""
    from grader.classroom import similar
    from grader.classroom.cli import suite as by_suite

    own = by_suite.assignment(submissions, SuiteOptions(suite, adapter or (), handout, solution))
    similar.run(submissions, to, threshold, most, None, out, err, own)
