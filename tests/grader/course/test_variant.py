"""Variants of a capstone: which bugs a number chooses, and the start that is made of them."""

from dataclasses import replace

import pytest

from grader.core.errors import KataError
from grader.core.packed import unpacked
from grader.course import starts, variant
from grader.course.bug_pool import BugPool, is_sound
from grader.course.specimen import Bug
from grader.course.specimens import parsed
from tests.grader.support.capstone import AROUND, HIDES, NAMES, RIGHT, exercise
from tests.grader.support.project import write


@pytest.fixture
def capstone(tmp_path):
    return exercise(tmp_path)


def wrong_in(content):
    text = b"".join(unpacked(content).values()).decode()
    return [name for n, name in enumerate(NAMES, 100) if f"x - {n}" in text]


def test_a_number_always_means_the_same_bugs(capstone):
    assert [variant.chosen(capstone, seed) for seed in (0, 7)] == [
        variant.chosen(replace(capstone, pool=BugPool(capstone.pool.hints[::-1], HIDES[::-1])), seed)
        for seed in (0, 7)
    ], "whatever the order of the row"
    assert variant.chosen(capstone, 7) == ("ada", "ida", "cai", "lea", "bea")
    assert len({frozenset(variant.chosen(capstone, seed)) for seed in range(40)}) > 30


@pytest.mark.parametrize("seed", range(20))
def test_it_chooses_five_and_one_that_hides_another(capstone, seed):
    names = variant.chosen(capstone, seed)
    assert len({*names}) == variant.SIZE and {*names} <= {*NAMES}
    pairs = [(names.index(a), names.index(b)) for a, b in HIDES if {a, b} <= {*names}]
    assert pairs and all(first < second for first, second in pairs)


def test_its_start_is_the_solution_with_these_bugs_and_nothing_else(capstone):
    made = variant.start(capstone, 7, capstone.content("exercises"))
    assert sorted(wrong_in(made)) == sorted(variant.chosen(capstone, 7))
    files = unpacked(made)
    assert files.keys() == {*RIGHT, *AROUND}
    assert all(files[name].decode() == text for name, text in AROUND.items())


def test_what_somebody_wrote_is_no_part_of_another_variant(capstone):
    seventh = variant.of(capstone, 7, starts.content(capstone))
    write(capstone.place("exercises"), {"early.py": "mine", "README.md": "Twelve sums, and mine.\n"})
    assert wrong_in(starts.content(seventh)) == sorted(variant.chosen(capstone, 7))
    assert seventh.is_start(starts.content(seventh)) and not capstone.is_start(starts.content(seventh))
    assert variant.as_given(seventh) == capstone


def test_bugs_that_have_changed_since_are_told(capstone):
    odd = variant.as_known(capstone, 7, "0123456789abcdef")
    with pytest.raises(KataError, match="kata capstone twelve_sums --seed 7"):
        starts.content(odd)


def test_without_solutions_there_is_one_variant(capstone):
    for file in capstone.place("solutions").iterdir():
        file.unlink()
    with pytest.raises(KataError, match="holds one variant of twelve_sums"):
        variant.start(capstone, 1, capstone.content("exercises"))


def test_a_bug_is_read_with_its_name_its_check_and_its_symptom():
    text = 'bug future test_future "a \\"later\\" token": no mask\n- mask\n+ ones\n'
    (bug,) = parsed(text, "pool.txt")
    assert isinstance(bug, Bug)
    assert (bug.name, bug.check, bug.says, bug.rung) == ("future", "test_future", 'a "later" token', "job")
    for title in ("bug future: no mask", "bug future test_future: no mask"):
        with pytest.raises(KataError, match=r"pool\.txt:1"):
            list(parsed(f"{title}\n- mask\n+ ones\n", "pool.txt"))


@pytest.mark.parametrize(
    ("row", "sound"),
    [
        ({"ada": ["a", "b", "c"], "hides": [["ada", "bea"]]}, True),
        ({}, True),
        ({"ada": ["a", "b"]}, False),
        ({"ada": "a"}, False),
        ({"hides": ["ada", "bea"]}, False),
        ({"hides": 3}, False),
        (["ada"], False),
    ],
)
def test_the_form_of_a_row(row, sound):
    assert is_sound(row) == sound
