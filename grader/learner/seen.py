"""`kata see`: at the end of a section a small thing to see, made by the learner's own answers.

A section's folder may hold `see.py`: a line of what there is to see, and a function `see`, whose parameters
are called after exercises. It gets their answers, as modules, and yields texts.
"""

import inspect
import runpy
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.core.errors import KataError
from grader.core.sanitize import message_of, plain
from grader.course import sources
from grader.course.catalog import Section, load
from grader.protocol.statuses import SOLVED
from grader.records import progress

FILE = "see.py"
SECONDS = 120
"""After which a picture is given up."""


def file(section: Section) -> Path | None:
    """What draws the picture of a section, if it has one."""
    return next(filter(Path.is_file, sources.each("exercises", section.name, FILE)), None)


def made_by(section: Section) -> tuple[str, ...]:
    """The slugs of the exercises whose answers make the picture of a section."""
    source = file(section)
    return tuple(inspect.signature(runpy.run_path(str(source))["see"]).parameters) if source else ()


def show(out: Console, name: str = "") -> None:
    """The picture of a section, as a person names it, or of the one where the learner is.

    Raises:
        KataError: there is none, or an answer that it is made by does not work.
    """
    catalog = load()
    here = progress.place(catalog) or catalog.exercises[0]
    section = catalog.section_called(name or here.section)
    if section is None:
        raise KataError(f"{name!r} is no section; `kata list` has them")
    source = file(section)
    if source is None:
        raise KataError(f"{section.name} has nothing to see")
    exercises = [catalog.exercise(slug) for slug in made_by(section)]
    seen = progress.states(catalog)
    if left := [e.slug for e in exercises if seen[e.slug] not in SOLVED]:
        which = f"{', '.join(left)} {'does' if len(left) == 1 else 'do'} not work yet"
        raise KataError(f"this is made by your answers, and {which}: `kata watch {left[0]}` leads there")
    from grader.plugin import load_answer

    module = runpy.run_path(str(source))
    out.print(Text(module["__doc__"] or "", "bold"))
    try:
        for part in module["see"](*(load_answer.load(e.place("exercises"), e) for e in exercises)):
            out.print(Text(f"\n{part}"))
    except Exception as error:  # of an answer, or of what was made of it
        raise KataError(f"no picture came of your answers: {message_of(error)}") from None


def drawn(section: Section) -> str:
    """The picture of a section, drawn by another process: answers are run by none that goes on."""
    command = [sys.executable, "-m", "grader", "see", section.name]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise KataError(f"the picture of {section.name} took more than {SECONDS} s") from None
    if done.returncode:
        raise KataError(plain(done.stderr.strip().removeprefix("kata: ")) or f"no picture of {section.name}")
    return "\n".join(map(plain, done.stdout.splitlines()))
