"""What is read out of a child's lines, whatever they hold, and the job as a worker is told of it."""

import json
from dataclasses import replace

import pytest

from grader.course.catalog import load
from grader.protocol.check import CheckSpec, Finding
from grader.protocol.feedback import Feedback
from grader.protocol.job import Job, from_told
from grader.protocol.transcript import Ended, read

SPEC = CheckSpec("hidden::t", "It works.")
PASSED = {"check": "hidden::t", "outcome": "passed"}


def broken(why):
    """The line of a child whose answer does not import."""
    return {"broken": True, "feedback": Feedback(why).to_json()}


@pytest.mark.parametrize("outcome", ["missing", "PASSED", None, ["passed"], ""])
def test_a_child_has_the_words_that_a_child_may_use(outcome):
    assert read([{**PASSED, "outcome": outcome}]).of(SPEC).outcome == "failed"


def test_a_check_that_cannot_run_here_has_not_passed_whatever_is_told():
    found = read([PASSED])
    assert found.of(SPEC) == Finding("passed")
    assert found.of(replace(SPEC, lacks="a GPU")) == Finding("not_graded", Feedback("a GPU"))
    assert read([broken("SyntaxError")]).of(SPEC) == Finding("missing", Feedback("SyntaxError"))
    assert read([{"broken": True}]).of(SPEC) == Finding("missing")


def test_of_two_words_the_first_and_the_gravest_count():
    told = [PASSED, {**PASSED, "outcome": "failed"}, {"done": True}, broken("a"), broken("b")]
    found = read(told)
    assert (found.of(SPEC).outcome, found.last_word, found.broken) == (
        "passed",
        "broken",
        Feedback("a"),
    )
    assert found.forged == "results arrived twice"


def test_a_check_s_own_line_says_nothing_of_the_rest():
    found = read([{**PASSED, "printed": "here", "done": True, "broken": "no"}, {"printed": "there"}])
    assert (found.printed, found.last_word, found.broken) == ("there", "", None)


@pytest.mark.parametrize(
    ("lines", "ended", "is_cut_short"),
    [
        ([PASSED], Ended(), True),
        ([PASSED, {"done": True}], Ended(), False),
        ([{"memory": True}], Ended(), True),
        ([], Ended(timed_out=True), False),
        ([], Ended(lost="gone"), False),
    ],
)
def test_who_is_cut_short_has_said_no_last_word(lines, ended, is_cut_short):
    assert read(lines, ended).cut_short == is_cut_short


def test_a_job_is_told_without_its_answer():
    exercise = replace(load().exercise("merge_heads"), seconds=1.5)
    job = Job(exercise, b"secret", 7, mode="check", shuffled=True, only=("hidden::t",))
    told = json.dumps(job.told())
    assert "secret" not in told
    assert from_told(**json.loads(told)) == replace(job, answer=b"")
