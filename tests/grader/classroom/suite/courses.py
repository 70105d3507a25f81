"""Little assignments as texts by path, graded with the suite that lies in them."""

import io
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from grader.classroom.cli import suite as by_suite
from grader.classroom.cli.options import ClassOptions, SuiteOptions
from grader.records.records import StudentRecord, read_student


def lay(home: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def grade(home: Path, suite: str = "hw/tests", adapters: tuple[str, ...] = (), **options: object):
    """Grade `class` (or `work`) by the suite; the records by student, and what is said on the way."""
    work = home / str(options.pop("work", "class"))
    err = Console(file=io.StringIO(), width=400)
    places = {name: home / str(options.pop(name)) for name in ("solution", "handout") if name in options}
    results = Path(str(options.pop("results", home / "results")))
    by_suite.grade(
        ClassOptions(work, results, **{"jobs": 2, "confined": False, **options}),
        SuiteOptions(home / suite, [home / adapter for adapter in adapters], **places),
        Console(file=io.StringIO(), width=400),
        err,
    )
    records: dict[str, StudentRecord] = {}
    for file in sorted(results.glob("[!.]*.json")):
        if found := read_student(file):
            records[found.student] = found
    return records, err.file.getvalue()


def outcomes(record: StudentRecord) -> dict[str, str]:
    return {check.id: check.outcome for exercise in record.exercises.values() for check in exercise.checks}


def messages(record: StudentRecord) -> dict[str, str]:
    return {check.id: check.message for exercise in record.exercises.values() for check in exercise.checks}
