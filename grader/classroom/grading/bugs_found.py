"""Which bugs of their variant of a capstone somebody found: those whose checks pass."""

from dataclasses import replace

from grader.course import variant
from grader.course.exercise import Exercise
from grader.protocol.check import function
from grader.records.records import ExerciseRecord


def noted(exercise: Exercise, record: ExerciseRecord) -> ExerciseRecord:
    """The record with the bugs that were handed out; the same of what is no capstone, or was not judged."""
    if not exercise.is_capstone or record.needs_manual_grade:
        return record
    known, outcomes = variant.bugs(variant.as_given(exercise)), _outcomes(record)
    own = [name for name in variant.chosen(exercise, exercise.variant) if name in known]
    found = {name: outcomes.get(known[name].check) == {"passed"} for name in own}
    return replace(record, variant=exercise.variant, bugs=found)


def _outcomes(record: ExerciseRecord) -> dict[str, set[str]]:
    """How each check went, by the name of its function: on all its inputs."""
    outcomes: dict[str, set[str]] = {}
    if record.status != "tampered":  # what such an answer says of its checks is nobody's word
        for check in record.checks:
            outcomes.setdefault(function(check.id), set()).add(check.outcome)
    return outcomes
