"""Where the pages of the book lie."""

from grader.course.exercise import Exercise
from grader.course.lookup.entries import Entry
from grader.course.lookup.symptoms import FOLDER, Symptom


def place_of(exercise: Exercise) -> str:
    """The page of a step or an exercise: ``e01_tensors/merge_heads``."""
    return f"{exercise.section}/{exercise.slug}"


def place_of_symptom(symptom: Symptom) -> str:
    """The page of a symptom: ``symptoms/the_loss_explodes``."""
    return f"{FOLDER}/{symptom.slug}"


def page_of(entry: Entry) -> str:
    """The page that an entry has to itself, or the chapter that tells of it."""
    if entry.symptom:
        return place_of_symptom(entry.symptom)
    if entry.kind == "exercise":
        return place_of(entry.exercises[0])
    return f"{entry.section}/index" if entry.kind == "pitfall" or not entry.exercises else ""
