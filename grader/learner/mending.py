"""How far a capstone's variant is mended, by the check of each of its bugs.

Bugs are told of by what their checks say, as verdicts do: never by a name or a place.
"""

from dataclasses import dataclass

from grader.core.errors import KataError
from grader.course import variant
from grader.learner.outcome import Lesson
from grader.protocol.statuses import SOLVED
from grader.records import capstones


@dataclass(frozen=True)
class Mending:
    """How many bugs there are and how many are mended, and titles of checks.

    `left` are the symptoms of bugs that never were mended, `broken` is what fails and passed before. `unseen`
    bugs have checks that do not run on this machine. `seconds` is how long a timer has run, or ran until the
    last bug was mended; None where nobody asked for one.
    """

    bugs: int
    mended: int
    left: tuple[str, ...]
    broken: tuple[str, ...]
    is_done: bool
    unseen: int = 0
    seconds: float | None = None

    @property
    def words(self) -> str:
        """In a few words: "3 of 5 mended, 25 min"."""
        unseen = f", {self.unseen} not judged here" if self.unseen else ""
        after = "" if self.seconds is None else f", {minutes(self.seconds)}"
        return f"{self.mended} of {self.bugs} mended{unseen}{after}"


def of(lesson: Lesson) -> Mending | None:
    """Of a verdict that was noted; None of any other exercise, and where it is not known or not judged."""
    if not lesson.exercise.is_capstone or lesson.trouble:
        return None
    exercise, known = capstones.mine(lesson.exercise), capstones.of(lesson.exercise.slug)
    try:
        bugs = variant.bugs(exercise)
    except KataError:  # in a release nobody knows them
        return None
    checks = [bugs[name].check for name in variant.chosen(exercise, exercise.variant)]
    titles: dict[str, str] = {}
    for failure in lesson.failures:
        titles.setdefault(failure.check, failure.title)
    mended = [check for check in checks if check in lesson.held]
    broken = [check for check in titles if check in known.held]
    left = [check for check in checks if check in titles and check not in broken]
    is_done = lesson.state in SOLVED
    times = [known.held.get(check) for check in mended]
    ended = max((after for after in times if after is not None), default=None)
    return Mending(
        len(checks),
        len(mended),
        tuple(dict.fromkeys(titles[check] for check in left)),
        tuple(dict.fromkeys(titles[check] for check in broken)),
        is_done,
        sum(check not in (*titles, *lesson.held) for check in checks),
        ended if is_done and ended is not None else known.seconds,
    )


def minutes(seconds: float) -> str:
    """A time as people say it: "25 min", "2 h 5 min"."""
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"
