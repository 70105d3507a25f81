"""What `kata export` and `kata report` take from a gradebook: scores and comments by hand, late penalties."""

from pathlib import Path

from rich.console import Console

from grader.course.catalog import load
from grader.course.roster import Roster
from grader.records.corrections import NONE, Corrections

WITHOUT = "none"


def of(results: Path, gradebook: str | None, roster: Roster, err: Console) -> Corrections:
    """The corrections of this gradebook, else of the one that holds the results; a line says which.

    Students are called as the roster does, also where the gradebook has another name of theirs.

    Raises:
        KataError: the gradebook is not there, or cannot be read.
    """
    from grader.classroom.nbgrader.connection import kept, place

    url = gradebook or kept(results)
    if url is None or url == WITHOUT:
        return NONE
    from grader.classroom.nbgrader import corrections

    found = corrections.read(url, load())
    shown = place(url).shown
    told = f"scores as corrected in the gradebook {shown}: {found.words}"
    err.print(told if found.words else f"nothing is corrected in the gradebook {shown}")
    return found.called(roster.id_of)
