"""How a person may name an exercise, and what they are told where that names none, or several."""

import pytest

from grader.core.errors import KataError
from grader.course.catalog import load

CATALOG = load()


@pytest.mark.parametrize(
    "name",
    [
        "merge_heads",
        "merge",
        "ex12_merge_heads",
        "e01/ex12",
        "e01_tensors/ex12",
        "e01/merge_heads",
        "ex12_merge_heads.py",
        "merge_heads.py",
        "exercises/e01_tensors/merge_heads.py",
        "./exercises/e01_tensors/merge_heads.py",
        "/home/ada/kata/tests/public/e01_tensors/test_merge_heads.py",
        "exercises\\e01_tensors\\merge_heads.py",
    ],
)
def test_an_exercise_has_many_names(name):
    assert CATALOG.find(name).slug == "merge_heads"
    assert [e.slug for e in CATALOG.select([name])] == ["merge_heads"]


def test_a_number_that_one_section_has_is_a_name():
    longest = max(
        CATALOG.sections, key=lambda s: max((e.order for e in s.exercises if not e.is_step), default=0)
    )
    assert CATALOG.find(longest.exercises[-1].number) is longest.exercises[-1]


@pytest.mark.parametrize("name", ["e01", "e01_tensors", "exercises/e01_tensors/"])
def test_a_section_has_some(name):
    assert CATALOG.select([name]) == CATALOG.sections[0].exercises
    with pytest.raises(KataError, match="is a section"):
        CATALOG.find(name)


def test_a_whole_name_comes_before_the_beginning_of_another():
    slugs = {e.slug for e in CATALOG.exercises}
    assert all(CATALOG.find(slug).slug == slug for slug in slugs)
    assert all(CATALOG.find(e.short) is e and CATALOG.find(e.relative) is e for e in CATALOG.exercises)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ex16x", "no exercise is called 'ex16x'"),
        ("mrege_heads", "did you mean 'merge_heads'?"),
        ("mrege_heads.py", "did you mean 'merge_heads'?"),
        ("e01_tensor", "did you mean 'e01_tensors'"),
        ("e02/ex99", "no exercise is called 'e02/ex99'"),
        ("st", "may be e01/stack_and_cat, e01/stack_or_cat, e01/standardize, "),
        ("ex05", "may be e01/stack_or_cat, e02/frozen_target, "),
        (
            "ex",
            "e10/export_once, e10/export_program, e11/expert_all_to_all; name one",
        ),
        ("", "no exercise is called ''"),
        ("/", "no exercise is called '/'"),
    ],
)
def test_what_names_none_or_several_is_told(name, words):
    for ask in (CATALOG.find, lambda name: CATALOG.select([name])):
        with pytest.raises(KataError) as told:
            ask(name)
        assert words in str(told.value) and "\n" not in str(told.value)
