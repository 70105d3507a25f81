"""A capstone's bugs in the report: how many students had each, and who found which of theirs."""

from dataclasses import replace

import pytest

from grader.classroom.grading import bugs_found
from grader.classroom.report.bugs import of_class, of_student
from grader.course import starts, variant
from grader.course.catalog import Catalog, Section
from grader.records.records import CheckRecord, ExerciseRecord, StudentRecord
from grader.verdict.score import unreadable, untouched
from tests.grader.classroom.report.test_report import CATALOG, CLASS, HALF, pages
from tests.grader.support.capstone import NAMES, SLUG, exercise


@pytest.fixture
def capstone(tmp_path):
    return exercise(tmp_path / "aside")


def judged(capstone, mended):
    """The record of an answer in which only these bugs, of all, are not seen."""
    checks = [
        CheckRecord(f"hidden::test_{name}", f"The sum of {name}.", "passed" if name in mended else "failed")
        for name in NAMES
    ]
    return ExerciseRecord("partial", 1.0, 3.0, tuple(checks))


@pytest.fixture
def handed_in(capstone):
    """Four students and two variants: all found, two found, untouched; and of the other one all but one."""
    first, second = (starts.as_variant(capstone, seed) for seed in (1, 2))
    one, other = (variant.chosen(capstone, seed) for seed in (1, 2))
    found = {
        "ada": (first, judged(first, NAMES)),
        "bob": (first, judged(first, [name for name in NAMES if name not in one[2:]])),
        "cyd": (first, untouched(first)),
        "dov": (second, judged(second, [name for name in NAMES if name != other[0]])),
    }
    return [
        StudentRecord(who, 7, {SLUG: bugs_found.noted(variant_of, record), "first": HALF})
        for who, (variant_of, record) in found.items()
    ]


def test_a_record_tells_which_bugs_were_handed_out_and_which_were_found(capstone, handed_in):
    one, other = (variant.chosen(capstone, seed) for seed in (1, 2))
    ada, bob, cyd, dov = (record.exercises[SLUG] for record in handed_in)
    assert (ada.variant, dov.variant) == (1, 2)
    assert ada.bugs == dict.fromkeys(one, True) and cyd.bugs == dict.fromkeys(one, False)
    assert [name for name, found in bob.bugs.items() if found] == [*one[:2]]
    assert dov.bugs == {name: name != other[0] for name in other}


def test_a_check_on_several_inputs_has_to_pass_on_all(capstone):
    (bug, *_) = variant.chosen(capstone, 0)
    checks = [CheckRecord(f"hidden::test_{bug}[{n}]", "", "passed" if n else "failed") for n in range(2)]
    record = bugs_found.noted(capstone, ExerciseRecord("partial", 1.0, 3.0, tuple(checks)))
    assert record.variant == 0 and not record.bugs[bug]


def test_what_was_not_judged_or_is_forged_tells_of_no_find(capstone):
    assert bugs_found.noted(capstone, unreadable(capstone, "a PDF")).bugs == {}
    forged = replace(judged(capstone, NAMES), status="tampered")
    assert not any(bugs_found.noted(capstone, forged).bugs.values())


def test_each_bug_of_the_pool_is_counted_and_the_worst_comes_first(capstone, handed_in):
    one, other = ({*variant.chosen(capstone, seed)} for seed in (1, 2))
    (told,) = of_class(handed_in, [capstone, *CATALOG.exercises])
    assert (told.slug, told.students, told.variants) == (SLUG, 4, 2)
    rows = {row.name: (row.had, row.found) for row in told.rows}
    assert rows.keys() == one | other and {*told.unused} == {*NAMES} - one - other
    for name, counts in rows.items():
        having = [r.exercises[SLUG].bugs for r in handed_in if name in r.exercises[SLUG].bugs]
        assert counts == (len(having), sum(bugs[name] for bugs in having))
    shares = [row.found / row.had for row in told.rows]
    assert shares == sorted(shares) and len({*shares}) > 2
    assert told.rows[0].symptom == f"what {told.rows[0].name} says"


def test_the_pages_show_them_and_nothing_of_a_plain_exercise(capstone, handed_in, tmp_path):
    catalog = Catalog((*CATALOG.sections, Section("e01_x", "X", (capstone,))))
    found = pages(tmp_path / "report", handed_in, catalog)
    assert "4 students, 2 variants" in found["index"].text and "Had it" in found["index"].text
    assert "2 of 5 bugs found:" in found["bob"].text and "5 of 5 bugs found:" in found["ada"].text
    assert "bugs found" not in found["cyd"].text, "nobody tells what an untouched start is"
    for name in variant.chosen(capstone, 1):
        assert f"what {name} says" in found["bob"].text
    plain = pages(tmp_path / "plain", CLASS)
    assert not any("bugs" in page.text.lower() for page in plain.values())


def test_a_bug_that_is_in_the_pool_no_more_has_its_name(capstone):
    record = ExerciseRecord("partial", 1.0, 3.0, variant=1, bugs={"gone": True, "ada": False})
    assert [bug.symptom for bug in of_student(capstone, record)] == ["gone", "what ada says"]
