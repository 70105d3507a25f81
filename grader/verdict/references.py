"""Reference solutions, judged as answers are before any answer counts, and verdicts by what they give.

Where a reference does not pass, no answer to that exercise is judged: its suite is at fault, or this machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.core.errors import KataError
from grader.core.sanitize import one_line
from grader.course import starts
from grader.course.exercise import Exercise
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.protocol.judge import Judge
from grader.protocol.transcript import Transcript
from grader.records.records import ExerciseRecord
from grader.verdict import cache_key
from grader.verdict.score import NOTHING, OracleResults, passing, unjudged, untouched, verdict


@dataclass(frozen=True)
class Reference:
    """What a reference's oracles give; `trouble` says why the exercise cannot be judged by it."""

    wanted: OracleResults = NOTHING
    trouble: str = ""


class References:
    """Each reference is judged once, with one seed, when it is asked for."""

    def __init__(self, judge: Judge, seed: int) -> None:
        self._judge = judge
        self.seed = seed
        self._known: dict[str, Reference] = {}
        self._starts: dict[Exercise, frozenset[str]] = {}  # variants of a capstone have their own

    def of(self, exercise: Exercise) -> Reference:
        """What the reference gives, or why the exercise cannot be judged."""
        if exercise.slug not in self._known:
            found = self._judged(exercise)
            # A neighbour may have used up the machine.
            self._known[exercise.slug] = self._judged(exercise) if found.trouble else found
        return self._known[exercise.slug]

    def verdict(self, job: Job, transcript: Transcript) -> ExerciseRecord:
        """The record of an answer that was judged with this seed.

        Of one that does not do the whole job, what the start does as well earns nothing.
        """
        exercise = job.exercise
        reference = self.of(exercise)
        if reference.trouble:
            return unjudged(exercise, reference.trouble)
        wanted, checks = reference.wanted, self._checks(exercise)
        record = verdict(exercise, checks, transcript, wanted)
        if not exercise.is_to_mend or record.job == 1.0 or record.needs_manual_grade:
            return record
        try:
            if starts.is_same_code(exercise, job.answer):
                return untouched(exercise)
            if record.job == 0.0:
                return record
            return verdict(exercise, checks, transcript, replace(wanted, start=self._start(exercise)))
        except KataError as unknown:
            return unjudged(exercise, str(unknown))

    def _start(self, exercise: Exercise) -> frozenset[str]:
        """The checks and cases that pass in the start.

        Raises:
            KataError: the start is not here, or could not be judged.
        """
        if exercise not in self._starts:
            found = self._judge.reference(Job(exercise, starts.content(exercise), self.seed))
            if found.fault:
                raise KataError(f"the start could not be judged: {found.fault}")
            wanted = self.of(exercise).wanted
            self._starts[exercise] = passing(self._checks(exercise), found, wanted)
        return self._starts[exercise]

    def _checks(self, exercise: Exercise) -> Sequence[CheckSpec]:
        return self._judge.inventory.get(exercise.slug, ())

    def _judged(self, exercise: Exercise) -> Reference:
        solution = cache_key.solution(exercise)
        found = self._judge.reference(Job(exercise, solution, self.seed))
        expected = self._checks(exercise)  # fresh processes know them only now
        if expected and all(check.lacks for check in expected):
            return Reference()  # nobody is judged by it
        gives = found.oracle is not None
        # Where there is none, the record is to say why.
        wanted = OracleResults(found.oracle if gives else ["n"], found.fine_oracle)
        # Workers of a cluster may have what this machine lacks.
        here = [
            replace(spec, lacks="not here") if found.of(spec).outcome == "not_graded" else spec
            for spec in expected
        ]
        record = verdict(exercise, here, found, wanted)
        if gives and record.status in ("passed", "not_graded"):
            return Reference(wanted)
        return Reference(trouble=_trouble(record))


def _trouble(record: ExerciseRecord) -> str:
    """Why a reference does not pass."""
    if record.status == "grader_fault":
        return record.flags[0]
    if record.flags:
        return f"the reference is {record.status}: {record.flags[0]}"
    missed = [check for check in record.checks if check.outcome not in ("passed", "not_graded")]
    told = sorted(missed, key=lambda check: check.outcome == "missing")  # which says nothing itself
    if record.status == "not_graded" and record.checks:
        return "this machine lacks what the reference needs"
    if not told:
        return "there is nothing that the reference must pass"
    why = told[0].reason.headline if told[0].reason else record.status
    return f"the reference fails {told[0].id}: {one_line(why)}"
