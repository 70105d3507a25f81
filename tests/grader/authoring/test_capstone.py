"""The audit of a capstone: its pool fits together, and its checks see each bug alone and beside any other."""

import pytest

from grader.authoring import capstone
from grader.course.catalog import load
from tests.grader.support.capstone import BUGS, HIDDEN, HINTS, NAMES, SLUG, SPECIMENS, add_capstone, exercise
from tests.grader.support.clone import Clone
from tests.grader.support.project import write

BLIND = HIDDEN.replace(
    'expect_equal(part(answer, "ada")',
    'if part(answer, "bea")(1000) == 1101:\n        expect_equal(part(answer, "ada")',
)
TOP = "+ x\n\n@ late.py\n+ b = 1"
UNLIKE = BUGS["kim"].replace("the sum of kim", "a sum that is too large")


@pytest.fixture
def problems(tmp_path):
    made = exercise(tmp_path)

    def told(specimens=SPECIMENS, start=None):
        made.file("specimens").write_text(specimens)
        write(made.place("exercises"), start or {})
        return [*capstone.problems(made)]

    return told


def test_a_sound_pool_has_none(problems):
    assert problems() == []


@pytest.mark.parametrize(
    ("specimens", "words"),
    [
        (SPECIMENS.replace("bug lea", "bug leo"), "no hints for leo"),
        (SPECIMENS.replace("bug lea", "bug leo"), "lea: there is no such bug"),
        ("\n".join([*BUGS.values()][:5]), "6 are wanted, and here 5"),
        (SPECIMENS + "\n" + BUGS["ada"], "are called ada"),
        (SPECIMENS.replace("- x + 101", "- x + 100"), "bugs ada and bea do not go together"),
        (SPECIMENS.replace("- x + 101", "- no such line"), "bugs ada and bea do not go together"),
        (SPECIMENS.replace("- x + 101\n", ""), "say in which file they come, as @ model.py"),
        (
            SPECIMENS.replace("+ x - 100", "+ x\n\n@ late.py\n+ a = 1").replace("+ x - 101", TOP),
            "the same place",
        ),
    ],
)
def test_what_does_not_fit_is_told(problems, specimens, words):
    assert any(words in told for told in problems(specimens)), problems(specimens)


def test_ours_have_twelve_bugs_and_some_hide_others():
    """With six, two variants share all bugs but one: enough for one class, not for all who learn here."""
    ours = [e for e in load().exercises if e.is_capstone]
    assert ours and all(len(e.pool.names) >= 12 and e.pool.hides for e in ours)


def test_a_hint_that_quotes_is_told(problems):
    specimens = SPECIMENS.replace("- x + 101\n", "- what bea says\n")
    assert any("a hint for bea quotes the solution" in told for told in problems(specimens))


def test_another_start_is_told_and_written(tmp_path):
    made = exercise(tmp_path)
    write(made.place("exercises"), {"early.py": "mine", "README.md": "Twelve sums, told better.\n"})
    (told,) = capstone.problems(made)
    assert "kata audit --write-starts --only twelve_sums" in told
    capstone.write_start(made)
    assert [*capstone.problems(made)] == []
    assert (made.place("exercises") / "README.md").read_text() == "Twelve sums, told better.\n"


@pytest.mark.slow
def test_each_bug_and_each_pair_is_tried(tmp_path):
    clone = Clone(tmp_path)
    add_capstone(clone)
    add_capstone(clone, "blind", hidden=BLIND, bugs=SPECIMENS.replace(BUGS["kim"], UNLIKE))
    add_capstone(clone, "hintless", hints=HINTS.replace("lea", "leo"))
    code, lines = clone.kata("audit")
    told = "\n".join(lines)
    assert code == 1 and f"{SLUG}:" not in told, told
    assert "blind: test_ada passes on the bugs ada and bea together" in told
    assert sum("together" in line for line in lines) == 1
    assert "lacks 'a sum that is too large'" in told
    assert "hintless: to do in" in told and "has no hints for lea" in told


@pytest.mark.slow
def test_the_start_is_written_by_its_verb(tmp_path):
    clone = Clone(tmp_path)
    add_capstone(clone)
    write(tmp_path / "exercises/e01_tensors" / SLUG, {"early.py": "", "README.md": "Told better.\n"})
    code, lines = clone.kata("audit", "--write-starts")
    assert code == 0, lines
    text = (tmp_path / "exercises/e01_tensors" / SLUG / "early.py").read_text()
    assert "x - " in text and all(f"def {name}" in text for name in NAMES[:6])
