"""The grading log tells whose score became what, and by what the verdicts differ."""

import json
from dataclasses import replace

import pytest

from grader.core.errors import KataError
from grader.course.roster import NOBODY, Roster, Student
from grader.records import log as logs
from grader.records.corrections import Corrections
from grader.records.log import Log, reckoned_before, summary
from grader.records.records import (
    ByHand,
    CheckRecord,
    ExerciseRecord,
    StudentRecord,
    student_from_json,
    student_to_json,
)
from tests.grader.records.test_corrections import CATALOG

BY = {"answer": "a", "suite": "b", "grader": "c", "seed": "1", "policy": "d"}
HALF = ExerciseRecord("partial", 1.0, 2.0, digests=BY)
WORKS = replace(HALF, status="works", score=1.7)
TODO = ExerciseRecord("todo", 0.0, 2.0)
NOT_GRADED = ExerciseRecord("not_graded", 0.0, 2.0)
FAULT = ExerciseRecord("grader_fault", 0.0, 2.0, digests=BY)
OLDER = replace(HALF, digests={}, checks=(CheckRecord("t::a", "works", "passed"),))
CHANGES = [  # before, after, why, which way
    (None, HALF, "first judged", "first"),
    (TODO, HALF, "answer", "first"),
    (HALF, replace(WORKS, digests={**BY, "answer": "x"}), "answer", "up"),
    (WORKS, replace(HALF, digests={**BY, "suite": "x", "seed": "2"}), "suite, seed", "down"),
    (WORKS, replace(HALF, digests={**BY, "policy": "x"}), "policy", "down"),
    (WORKS, HALF, "judged again", "down"),
    (HALF, NOT_GRADED, "answer", "person"),
    (None, NOT_GRADED, "first judged", "person"),
    (NOT_GRADED, replace(NOT_GRADED, points=4.0), "points", "same"),
    (FAULT, HALF, "judged again", "judged"),
    (HALF, replace(HALF, score=2.0, points=4.0), "points", "points"),
    (HALF, replace(HALF, score=4.0, points=4.0, digests={**BY, "answer": "x"}), "answer, points", "up"),
    (HALF, replace(HALF, status="failed"), "judged again", "same"),
    (OLDER, WORKS, "unknown: graded before there was a log", "up"),
]


def record(*exercises: ExerciseRecord | None) -> StudentRecord:
    return StudentRecord("ada", 1, {f"e{n:02d}": one for n, one in enumerate(exercises) if one})


def test_why_is_what_the_verdicts_differ_in(tmp_path):
    log = Log(tmp_path)
    log.judged(record(*(before for before, *_ in CHANGES)), record(*(after for _, after, *_ in CHANGES)))
    assert [(", ".join(c.why), c.way) for c in log.changes] == [(why, way) for *_, why, way in CHANGES]
    assert summary(log.changes) == (
        "3 up, 3 down, 2 judged for the first time, 2 to be graded by hand now, "
        "1 that could not be judged before, 1 on other points"
    )
    log.keep()
    log.keep()
    assert logs.read(tmp_path) == log.changes
    first = json.loads((tmp_path / logs.FILE).read_text().splitlines()[0])
    assert first["to"] == {"status": "partial", "score": 1.0, "points": 2.0}
    assert (first["from"], first["student"], first["exercise"], first["why"]) == (
        *(None, "ada", "e00"),
        ["first judged"],
    )


def test_where_nothing_changes_nothing_is_told(tmp_path):
    log = Log(tmp_path)
    same = record(HALF, TODO, NOT_GRADED)
    log.judged(same, same)
    log.judged(None, record(TODO))
    log.judged(record(TODO), record(replace(TODO, points=3.0)))
    log.judged(same, replace(same, exercises={}))
    log.keep()
    assert (summary(log.changes), [*tmp_path.iterdir()]) == ("", [])


def test_another_students_record_is_nobodys_before(tmp_path):
    log = Log(tmp_path)
    log.judged(StudentRecord("bob", 1, {"e00": HALF}), record(WORKS))
    assert [c.way for c in log.changes] == ["first"]


def test_what_comes_from_a_gradebook_is_told_once(tmp_path):
    told = []
    by_hand = {("ada", "first"): ByHand(1.5, 0.5), ("bob", "first"): ByHand(comment="well done")}
    late = {("ada", "week1"): 2.0}
    raised = {**by_hand, ("ada", "first"): ByHand(0.0, 0.5)}
    for now in (Corrections(by_hand, late),) * 2 + (Corrections(raised, late), Corrections()):
        log = Log(tmp_path)
        log.entered(now)
        log.keep()
        scores = [[one and one.score for one in (c.before, c.after)] for c in log.changes]
        told.append([(c.exercise, *c.why, *both) for c, both in zip(log.changes, scores, strict=True)])
    extra, penalty = ("first", "extra credit"), ("week1", "late penalty")
    assert told == [
        [("first", "by hand", None, 1.5), (*extra, None, 0.5), (*penalty, None, 2.0)],
        [],
        [("first", "by hand", 1.5, 0.0)],
        [("first", "by hand", 0.0, None), (*extra, 0.5, None), (*penalty, 2.0, None)],
    ]
    assert summary(logs.read(tmp_path)) == "7 by hand or for lateness"


NOTHING = '{"when": "", "student": 1, "exercise": "", "from": null, "to": null, "why": [%s]}\n'


def test_lateness_that_was_reckoned_before_a_score_by_hand_is_told(tmp_path):
    late = {("ada", "e01_one"), ("ada", "e02_two")}
    before = Corrections({("ada", "first"): ByHand(1.0), ("bob", "first"): ByHand(1.0)}, late=late)
    assert reckoned_before([], before, CATALOG) == [], "there is no log to compare with"
    log = Log(tmp_path)
    log.entered(before)
    for by_hand, told in (
        (before.by_hand, []),
        ({**before.by_hand, ("ada", "first"): ByHand(2.0)}, ["ada e01_one"]),
        ({**before.by_hand, ("ada", "third"): ByHand(None, 0.5)}, ["ada e02_two"]),
        ({**before.by_hand, ("ada", "third"): ByHand(comment="well done")}, []),
        ({("ada", "first"): ByHand(1.0)}, []),
        ({}, ["ada e01_one"]),
    ):
        assert reckoned_before(log.changes, Corrections(by_hand, late=late), CATALOG) == told


@pytest.mark.parametrize(
    "tail",
    ['{"when": "20', "[]\n", '{"when": 1}\n', "\n\n", NOTHING % "", NOTHING % '"answer"'],
)
def test_a_line_that_was_cut_costs_no_other(tmp_path, tail):
    for before, after in ((None, HALF), (HALF, WORKS)):
        log = Log(tmp_path)
        log.judged(before and record(before), record(after))
        log.keep()
        with (tmp_path / logs.FILE).open("a") as stream:
            stream.write(tail)
    assert [change.way for change in logs.read(tmp_path)] == ["first", "up"]


def test_who_gets_another_name_keeps_the_past(tmp_path):
    for name, roster in (
        ("lovelaceada_12", NOBODY),
        ("ada", Roster((Student("ada", aliases=("lovelaceada_12",)),))),
    ):
        log = Log(tmp_path, roster)
        log.entered(Corrections(penalties={(name, "week1"): 2.0}))
        log.keep()
        told = [change.student for change in logs.read(tmp_path, roster)]
    assert (told, log.changes) == (["ada"], [])


def test_a_log_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / logs.FILE).mkdir()
    log = Log(tmp_path)
    log.judged(None, record(HALF))
    with pytest.raises(KataError, match=r"cannot write .*log\.jsonl"):
        log.keep()


def test_digests_come_back_with_a_record():
    assert student_from_json(student_to_json(record(HALF, TODO))) == record(HALF, replace(TODO))
    assert "digests" not in student_to_json(record(TODO))["exercises"]["e00"]
