"""Which bugs of their variant of a capstone somebody found: those whose checks pass."""

from dataclasses import replace

from grader.course import variant
from grader.course.exercise import Exercise
from grader.protocol.check import function, held
from grader.records.records import ExerciseRecord


def noted(exercise: Exercise, record: ExerciseRecord) -> ExerciseRecord:
    """The record with the bugs that were handed out; the same of what is no capstone, or was not judged."""
    if not exercise.is_capstone or record.needs_manual_grade:
        return record
    known = variant.bugs(variant.as_given(exercise))
    own = [name for name in variant.chosen(exercise, exercise.variant) if name in known]
    # what an answer that tampers says of its checks is nobody's word
    told = record.checks if record.status != "tampered" else ()
    passed = held((function(check.id), check.outcome) for check in told)
    found = {name: known[name].check in passed for name in own}
    return replace(record, variant=exercise.variant, bugs=found)
