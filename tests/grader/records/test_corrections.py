"""What a gradebook's corrections make of a record."""

from dataclasses import replace

import pytest

from grader.core.errors import KataError
from grader.records.corrections import NONE, Corrections, corrected, expect_current, to_look_at
from grader.records.records import ByHand, ExerciseRecord, StudentRecord, student_from_json, student_to_json
from tests.grader.support.little_course import CATALOG

HALF = ExerciseRecord("partial", 1.0, 2.0)
NOT_GRADED = ExerciseRecord("not_graded", 0.0, 2.0)
ADA = StudentRecord("ada", 7, {"first": HALF, "second": NOT_GRADED, "third": HALF})


def by_hand(slug: str, entered: ByHand, **penalties: float) -> StudentRecord:
    late = {("ada", name): points for name, points in penalties.items()}
    return corrected(ADA, Corrections({("ada", slug): entered}, late), CATALOG)


@pytest.mark.parametrize(
    ("entered", "score"),
    [
        (ByHand(2.0), 2.0),
        (ByHand(0.0), 0.0),
        (ByHand(None, 0.5), 1.5),
        (ByHand(2.0, 0.5), 2.5),
        (ByHand(comment="well done"), 1.0),
    ],
)
def test_a_score_by_hand_counts_instead_of_ours_and_extra_credit_comes_on_top(entered, score):
    found = by_hand("first", entered)
    assert found.exercises["first"].score == score
    assert found.score == score + 1
    assert found.exercises["third"] == HALF


def test_what_was_not_judged_counts_once_a_person_has_graded_it():
    assert (ADA.score, ADA.points) == (2.0, 4.0)
    graded = by_hand("second", ByHand(0.5))
    assert (graded.score, graded.points) == (2.5, 6.0)
    praised = by_hand("second", ByHand(None, 1.0, "more later"))
    assert praised.exercises["second"].needs_manual_grade
    assert (praised.score, praised.points) == (2.0, 4.0)


def test_a_penalty_takes_no_more_than_its_assignment_has_earned():
    found = by_hand("first", ByHand(0.75), e01_one=9.0, e02_two=0.25, e03_gone=1.0)
    assert found.penalties == {"e01_one": 0.75, "e02_two": 0.25}
    assert found.score == 0.75
    assert by_hand("first", ByHand(0.0), e01_one=1.0).penalties == {}


def test_corrections_are_each_students_own():
    bob = StudentRecord("bob", 7, {"first": HALF})
    others = Corrections({("ada", "first"): ByHand(2.0)}, {("ada", "e01_one"): 1.0})
    assert corrected(bob, others, CATALOG) == bob
    assert corrected(ADA, NONE, CATALOG) == ADA


def test_a_corrected_record_is_one_for_readers_of_before():
    data = student_to_json(by_hand("first", ByHand(2.0), e01_one=0.5))
    assert (data["score"], data["penalties"]) == (2.5, {"e01_one": 0.5})
    assert student_from_json(data).exercises["first"].score == 2.0
    assert "by_hand" not in data["exercises"]["third"]


@pytest.mark.parametrize(
    ("scores", "comments", "penalties", "words"),
    [
        (0, 0, 0, ""),
        (1, 0, 0, "1 score"),
        (0, 2, 1, "2 comments and 1 late penalty"),
        (2, 1, 2, "2 scores, 1 comment and 2 late penalties"),
    ],
)
def test_only_what_there_is_is_told(scores, comments, penalties, words):
    entered = [ByHand(1.0)] * scores + [ByHand(comment="well done")] * comments
    late = {(f"s{i}", "e01_one"): 1.0 for i in range(penalties)}
    assert Corrections({(f"s{i}", "first"): one for i, one in enumerate(entered)}, late).words == words


FIRST = ("ada", "first")
AUTOMATIC = {FIRST: 1.0, ("ada", "second"): None}
LATE = Corrections(late={("ada", "e01_one")}, automatic=AUTOMATIC, gradebook="g.db")
GRADED = Corrections({FIRST: ByHand(2.0)}, automatic={FIRST: 1.0}, gradebook="g.db")
OTHER = "first is worth 2 now, and 9 in the gradebook g.db"


@pytest.mark.parametrize(
    ("corrections", "judged", "told"),
    [
        (LATE, ADA.exercises, None),
        (LATE, {"first": replace(HALF, score=1.5), "second": NOT_GRADED}, "ada was late with e01_one"),
        (LATE, {"first": HALF, "second": HALF}, "with another score of second than"),
        (LATE, {"third": replace(HALF, score=0.5)}, None),
        (GRADED, {"first": replace(HALF, score=0.5)}, None),
        (replace(GRADED, worth={"third": 9.0}), ADA.exercises, None),
        (
            replace(GRADED, worth={"first": 9.0}),
            ADA.exercises,
            OTHER,
        ),
        (
            replace(LATE, worth={"first": 9.0}),
            ADA.exercises,
            OTHER,
        ),
        (Corrections(worth={"first": 9.0}), ADA.exercises, None),
    ],
)
def test_corrections_of_other_scores_or_points_are_refused(corrections, judged, told):
    record = StudentRecord("ada", 7, judged)
    if told is None:
        expect_current([record], corrections, CATALOG)
        return
    with pytest.raises(KataError, match=told) as refused:
        expect_current([record], corrections, CATALOG)
    assert "--gradebook g.db first" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("corrections", "judged", "told"),
    [
        (GRADED, HALF, ""),
        (GRADED, replace(HALF, score=1.5), "2 by hand, 1.5 automatically now"),
        (GRADED, NOT_GRADED, "2 by hand, not graded automatically now"),
        (replace(GRADED, outdated={("ada", "first")}), HALF, "2 by hand, 1 automatically now"),
        (Corrections({("ada", "first"): ByHand(None, 0.5)}, automatic={("ada", "first"): 0.0}), HALF, ""),
    ],
)
def test_a_score_by_hand_over_another_of_ours_is_to_be_looked_at(corrections, judged, told):
    found = corrected(StudentRecord("ada", 7, {"first": judged}), corrections, CATALOG)
    assert found.exercises["first"].by_hand.outdated == told
    assert found.exercises["first"].for_instructor == ((f"look again: {told}",) if told else ())
    assert to_look_at([found]) == ([f"ada first, {told}"] if told else [])
    assert ("outdated" in student_to_json(found)["exercises"]["first"]["by_hand"]) is bool(told)


def test_all_of_it_follows_another_name():
    entered = {("countess", "first"): ByHand(2.0), ("countess", "second"): ByHand(0.0)}
    former = Corrections(
        {**entered, ("ada", "second"): ByHand(1.0)},
        {("countess", "e01_one"): 1.0},
        {("countess", "e01_one")},
        {("countess", "first"): 1.0},
        {("countess", "first")},
    )
    assert former.called({"countess": "ada", "ada": "ada"}.__getitem__) == Corrections(
        {FIRST: ByHand(2.0), ("ada", "second"): ByHand(1.0)},
        {("ada", "e01_one"): 1.0},
        {("ada", "e01_one")},
        {FIRST: 1.0},
        {FIRST},
    )
