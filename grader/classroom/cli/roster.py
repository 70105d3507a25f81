"""`kata roster match`: names of a hand-in that the roster does not know become aliases, once confirmed."""

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from grader.classroom.cli.class_table import tell
from grader.classroom.submissions import former
from grader.classroom.submissions.class_folder import listed
from grader.classroom.submissions.matching import Proposal, alias, likely, proposals
from grader.classroom.submissions.origins import origins
from grader.core.errors import KataError
from grader.course import paths, roster_edit
from grader.course import roster as rosters
from grader.course.catalog import load
from grader.course.roster import NOBODY, Roster, Student
from grader.records.records import files


def settled(results: Path, roster: Path | None, err: Console) -> Roster:
    """The roster; results under a name that it knows now are the student's, as a line says."""
    students = rosters.load(roster)
    for line in former.settle(results, students):
        tell(f"note: {line}", err)
    return students


def graded(results: Path, roster: Path | None, err: Console) -> Roster:
    """The same, where results go to others: a line tells of whom the roster does not know."""
    students = settled(results, roster, err)
    names = [file.stem for file in files(results)]
    strangers = [name for name in names if students.students and students.find(name) is None]
    for note in listed("results of nobody in the roster", strangers):
        tell(f"note: {note}", err)
    return students


def match(
    submissions: Path,
    roster: Path | None,
    table: Path | None,
    results: Path,
    *,
    yes: bool,
    ask: bool,
    out: Console,
    err: Console,
) -> bool:
    """Propose whose the unknown names are, and write what is confirmed; True where nothing stays open.

    Results, and the gradebook that they were entered into, follow.
    """
    file = roster or paths.COURSE / rosters.FILE
    students = rosters.load(roster)
    if not students.students:
        raise KataError(f"{paths.shown(file)} lists no students; write it, or name one with --roster")
    told = rosters.load(table) if table else NOBODY
    found = proposals(origins(submissions, load()), students, told)
    if not found:
        out.print(f"{paths.shown(file)} knows every name in {paths.shown(submissions)}")
        return True
    settled = {one.called: student for one, student in likely(found)} if yes else {}
    chosen: list[tuple[str, Student | str]] = []
    for one in found:
        choice = _asked(one, students, out) if ask and not yes else settled.get(one.called)
        if choice is None:
            tell(_shown(one, students), out)
        else:
            chosen.append((one.called, choice))
    if chosen:
        _write(file, students, chosen, out)
        _follow(results, roster, err)
    is_open = len(found) - len(chosen)
    if is_open:
        how = "answer in a terminal, write aliases into it" + (
            "" if yes else ", or say --yes where one is named"
        )
        out.print(f"{is_open} of {len(found)} names stay open: {how}")
    return not is_open


def _follow(results: Path, roster: Path | None, err: Console) -> None:
    """What was graded under the names that are aliases now is the student's."""
    from grader.classroom.nbgrader.connection import kept

    students = settled(results, roster, err)
    if (url := kept(results)) and Path(url).is_file():  # a server's is settled by the next run
        from grader.classroom.nbgrader.former import settle

        for line in settle(url, students):
            tell(f"note: {line}", err)


def _shown(one: Proposal, roster: Roster) -> str:
    if not one.meant:
        return f"{one.called}: like nobody's name in the roster"
    return f"{one.called}: {' or '.join(roster.label(student.id) for student in one.meant)}?"


def _asked(one: Proposal, roster: Roster, out: Console) -> Student | str | None:
    """Whose it is, as a person says; itself for a further student, None where it stays open."""
    tell(_shown(one, roster), out)
    choices = {str(n): student for n, student in enumerate(one.meant, start=1)}
    for n, student in choices.items():
        out.print(f"  {n}  {roster.label(student.id)}")
    out.print("  a student's id, or: + for a further student, nothing to leave it open")
    while True:
        said = typer.prompt("  who", default="", show_default=False).strip()
        if said in ("", "+"):
            return one.called if said else None
        known = choices.get(said) or next((s for s in roster.students if s.id == said), None)
        if known:
            return known
        out.print(f"  nobody has the id {said!r}")


def _write(file: Path, roster: Roster, chosen: Sequence[tuple[str, Student | str]], out: Console) -> None:
    aliases: dict[str, list[str]] = {}
    further = [called for called, choice in chosen if isinstance(choice, str)]
    for called, choice in chosen:
        if isinstance(choice, Student):
            name = alias(called, choice, roster)
            if ";" in name:
                raise KataError(f"{name!r} has a semicolon, which no alias can; rename that, and try again")
            aliases.setdefault(choice.id, []).append(name)
            out.print(f"{called} is {roster.label(choice.id)}")
    roster_edit.add(file, aliases, further)
    count = sum(map(len, aliases.values()))
    words = f"{count} alias{'es' if count != 1 else ''}"
    words += f" and {len(further)} student{'s' if len(further) != 1 else ''}" if further else ""
    out.print(f"{paths.shown(file)}: {words} written")
