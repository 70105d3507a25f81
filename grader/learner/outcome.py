"""What a learner is told about one exercise: a plain record made from how its answer was judged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.course.exercise import Exercise
from grader.protocol.best_first import best_first
from grader.protocol.check import CheckSpec, Finding, held
from grader.protocol.feedback import Feedback
from grader.protocol.standing import NOTHING_RAN, Standing
from grader.protocol.statuses import State
from grader.protocol.transcript import Transcript


@dataclass(frozen=True)
class Failure:
    """A check that did not pass."""

    title: str
    feedback: Feedback
    fine: bool = False
    check: str = ""
    """The name of its function."""

    @property
    def line(self) -> str:
        """It by its title, where others are told before it."""
        return f"fine print: {self.title}" if self.fine else self.title


@dataclass(frozen=True)
class Lesson:
    """How an answer fares. `trouble` is set where it could not be judged to the end.

    `failures` begins with the one that names the mistake best; `fine_print` holds the titles of what does not
    pass of it. `unwritten` names the functions that say of themselves that they are still to write. `printed`
    is what the answer printed while it was imported and in the first failure, or where nothing fails, in the
    first check that saw it print. `is_start` is true of what nobody has touched. `before` is a step that the
    exercise builds on and that is not done yet: it is told where the exercise fails.
    """

    exercise: Exercise
    state: State
    passed: tuple[str, ...]
    failures: tuple[Failure, ...]
    skipped: tuple[str, ...]
    trouble: str
    printed: str
    unwritten: tuple[str, ...] = ()
    is_start: bool = False
    standing: Standing = NOTHING_RAN
    fine_print: tuple[str, ...] = ()
    before: Exercise | None = None
    held: tuple[str, ...] = ()
    """The functions of the checks that passed."""

    @property
    def mark(self) -> State:
        """What the map shows: a start may fail, but it was not begun."""
        return "todo" if self.is_start else self.state

    @property
    def rest(self) -> str:
        """What is still to do in an answer of which a part is written; "" for any other."""
        if self.state != "todo" or not self.passed:
            return ""
        return (
            f"still to write: {', '.join(self.unwritten)}"
            if self.unwritten
            else "still to write: a part of it"
        )


def learn(
    exercise: Exercise, expected: Sequence[CheckSpec], transcript: Transcript, *, is_start: bool = False
) -> Lesson:
    """The lesson in how one answer was judged; a start that is to be built teaches nothing."""
    if is_start and not exercise.is_to_mend:
        return Lesson(exercise, "todo", (), (), (), "", "", is_start=True)
    here = [(spec, transcript.of(spec)) for spec in expected if spec.lacks is None]
    lacks = [(spec, found) for spec, found in here if found.outcome in ("failed", "timeout")]
    failed = best_first(lacks, lambda each: (each[0].fine, each[1].feedback))
    # A check that runs on several inputs must pass on all of them.
    lacking = {spec.title for spec, found in here if found.outcome != "passed"}
    standing = Standing.of((spec.fine, found.outcome) for spec, found in here)
    return Lesson(
        exercise,
        standing.state_in(transcript),
        _once(spec.title for spec, _ in here if spec.title not in lacking),
        tuple(
            Failure(spec.title, told or Feedback(""), spec.fine, spec.function) for (spec, _), told in failed
        ),
        _once(f"{spec.title} ({spec.lacks})" for spec in expected if spec.lacks is not None),
        _trouble(exercise, transcript),
        _printed(transcript, [found for (_, found), _ in failed[:1]]),
        _once(found.unwritten for found in transcript.checks.values() if found.unwritten),
        is_start,
        standing,
        _once(spec.title for spec, found in here if spec.fine and found.outcome != "passed"),
        held=held((spec.function, found.outcome) for spec, found in here),
    )


def _printed(transcript: Transcript, failed: Sequence[Finding]) -> str:
    shown = failed or transcript.checks.values()
    return transcript.printed + next((found.printed for found in shown if found.printed), "")


def _trouble(exercise: Exercise, transcript: Transcript) -> str:
    if transcript.is_whole:
        return ""
    ended = transcript.ended
    if transcript.last_word == "broken":
        return transcript.broken.text if transcript.broken else "the file does not import"
    if transcript.last_word == "tampered":
        return f"your code {transcript.forged}, which the checks rely on: give it another name"
    if transcript.fault:
        return f"the engine failed: {transcript.fault}; save again, or restart `kata watch`"
    if ended.timed_out:
        return f"still running after {exercise.seconds:g} s: an endless loop, or something that waits?"
    how = f"signal {ended.signal}" if ended.signal else f"exit status {ended.exit}"
    return f"your code ended the process ({how}) before it was judged: `exit`, `os._exit` or a crash?"


def _once(titles: Iterable[str]) -> tuple[str, ...]:
    """Each sentence once: a check that runs on several inputs says the same each time."""
    return tuple(dict.fromkeys(titles))
