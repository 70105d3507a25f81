"""The score counts what is known to have passed, and no more than the oracle's cases that agree."""

import inspect
import re

import pytest

from grader.course.exercise import Exercise
from grader.course.policy import Policy
from grader.engine.integrity import canary
from grader.grading.score import Wanted, scored, verdict
from grader.plugin import subprocess_run
from grader.protocol.check import CheckSpec
from grader.protocol.feedback import Fact, Feedback
from grader.protocol.job import Job
from grader.protocol.transcript import _TAMPERED, MOST_LINES, Ended, read

EXERCISE = Exercise(
    "merge_heads", "e01_tensors", 1, "Merge", "fix", "core", 2.0, 1, (), ("view",), ("look",), "https://x"
)
EXPECTED = [
    CheckSpec("public::test_shape", "Right shape.", None),
    CheckSpec("hidden::test_values", "Right values.", None),
    CheckSpec("hidden::test_gradient", "Right gradient.", None),
    CheckSpec("hidden::test_on_cuda", "On CUDA.", "needs a CUDA device"),
]
WANTED = ["i", "7"]
HONEST = (
    {"check": "public::test_shape", "outcome": "passed", "message": "", "seconds": 0.1},
    {"check": "hidden::test_values", "outcome": "passed", "message": "", "seconds": 0.1},
    {"check": "hidden::test_gradient", "outcome": "passed", "message": "", "seconds": 0.1},
    {"oracle": ["i", "7"]},
    {"done": True},
)


def nested(depth):
    """Lists in lists, deeper than text can be made of."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


DEEP = nested(5000)


def judged(*lines, **ending):
    return verdict(EXERCISE, EXPECTED, read(lines, Ended(**ending)), Wanted(WANTED))


def without(check):
    return [line for line in HONEST if line.get("check") != check]


def test_all_passed():
    record = judged(*HONEST)
    assert (record.status, record.score, record.flags) == ("passed", 2.0, ())


def test_what_cannot_run_here_costs_nothing():
    outcomes = {c.id: c.outcome for c in judged(*HONEST).checks}
    assert outcomes["hidden::test_on_cuda"] == "not_graded"


@pytest.mark.parametrize("outcome", ["failed", "timeout", "todo", "skipped", "xfailed", "PASSED", None, 1])
def test_only_the_word_passed_passes(outcome):
    record = judged(*without("hidden::test_values"), {"check": "hidden::test_values", "outcome": outcome})
    assert (record.status, record.score) == ("partial", 1.3333)


def test_a_silent_check_is_missing_and_not_passed():
    record = judged(*without("hidden::test_gradient"))
    assert record.score == 1.3333
    assert "missing" in {c.outcome for c in record.checks}


def test_nothing_without_the_oracle():
    assert judged(*HONEST[:3], {"done": True}).score == 0.0
    assert judged(*HONEST[:3], {"oracle": ["i", "8"]}, {"done": True}).score == 0.0
    assert judged(*HONEST[:3], {"oracle_error": "ValueError"}, {"done": True}).score == 0.0


CASES = ["d", [["three rows", ["i", "7"]], ["one row", ["i", "8"]], ["the gradient", ["i", "9"]]]]
FINE = [
    CheckSpec("hidden::test_strides", "Any strides.", None, fine=True),
    CheckSpec("hidden::test_halves", "Half precision.", None, fine=True),
]


def judged_on_both(*lines, oracle=CASES, fine_oracle=None, wanted_fine=None):
    rest = [line for line in HONEST if "oracle" not in line and "done" not in line]
    told = [*rest, *lines, {"oracle": oracle}, {"fine_oracle": fine_oracle}, {"done": True}]
    return verdict(EXERCISE, EXPECTED + FINE, read(told), Wanted(CASES, wanted_fine))


STRIDES, HALVES = ({"check": check.id, "outcome": "passed"} for check in FINE)


def test_who_does_the_job_works_whatever_becomes_of_the_fine_print():
    record = judged_on_both(STRIDES, {**HALVES, "outcome": "failed"})
    assert (record.status, record.job, record.fine, record.score) == ("works", 1.0, 0.5, 1.7)
    assert judged_on_both().score == 1.4
    assert judged_on_both(STRIDES, {**HALVES, "outcome": "timeout"}, {"stopped": "timeout"}).status == "works"
    assert judged_on_both(STRIDES, HALVES).status == "passed"


def test_the_job_is_done_as_far_as_cases_agree():
    some = ["d", [["three rows", ["i", "7"]], ["one row", ["i", "0"]], ["more", ["i", "1"]]]]
    record = judged_on_both(STRIDES, HALVES, oracle=some)
    assert (record.status, record.job, record.score) == ("partial", 0.3333, 0.6667)
    assert [(c.id, c.outcome) for c in record.checks[-3:]] == [
        ("oracle::three rows", "passed"),
        ("oracle::one row", "failed"),
        ("oracle::the gradient", "failed"),
    ]
    assert record.checks[-2].title == "On fresh inputs: one row."
    for junk in (["d", [["three rows"]]], ["d"], [], 7, DEEP):
        assert judged_on_both(STRIDES, HALVES, oracle=junk).job == 0.0


def test_a_fine_oracle_caps_the_fine_print():
    halves = ["d", [["half precision", ["i", "1"]]]]
    right = judged_on_both(STRIDES, HALVES, fine_oracle=halves, wanted_fine=halves)
    wrong = judged_on_both(STRIDES, HALVES, wanted_fine=halves)
    assert (right.status, wrong.status, wrong.job, wrong.fine) == ("passed", "works", 1.0, 0.0)


@pytest.mark.parametrize(
    ("policy", "works", "passes"),
    [(Policy(), 1.7, 2.0), (Policy(0.0), 2.0, 2.0), (Policy(1.0), 1.0, 2.0), (Policy(strict=True), 0.0, 2.0)],
)
def test_a_course_says_what_the_fine_print_is_worth(policy, works, passes):
    assert scored(judged_on_both(STRIDES), policy).score == works
    assert scored(judged_on_both(STRIDES, HALVES), policy).score == passes


@pytest.mark.parametrize(
    "lines",
    [
        (*HONEST, HONEST[1]),
        (*HONEST, {"oracle": ["i", "7"]}),
        (*HONEST, {"fine_oracle": 1}, {"fine_oracle": 2}),
        (*HONEST, {"garbled": True}),
        ({"tampered": "replaces torch.allclose"}, *HONEST),
    ],
    ids=["check twice", "oracle twice", "fine oracle twice", "garbled", "guard"],
)
def test_forged_results_earn_nothing(lines):
    record = judged(*lines)
    assert (record.status, record.score) == ("tampered", 0.0)
    assert record.flags


def test_too_much_output_earns_nothing():
    assert judged(*HONEST, overflow=True).status == "tampered"
    assert judged(*HONEST, *[{}] * MOST_LINES).status == "tampered"


@pytest.mark.parametrize(
    ("lines", "ending", "status"),
    [
        ((), {}, "crashed"),
        ((), {"signal": 11}, "crashed"),
        ((), {"exit": 3}, "crashed"),
        ((), {"timed_out": True}, "timeout"),
        (({"stopped": "timeout"},), {}, "timeout"),
        (({"broken": "SyntaxError", "memory": False},), {}, "broken"),
        (({"broken": "MemoryError", "memory": True},), {}, "memory"),
        (({"check": "hidden::test_values", "outcome": "todo"}, {"done": True}), {}, "todo"),
        (({"done": True},), {}, "failed"),
    ],
)
def test_how_it_ended_is_told(lines, ending, status):
    record = judged(*lines, **ending)
    assert (record.status, record.score) == (status, 0.0)


def test_a_loop_while_it_is_imported_is_no_matter_of_signals():
    record = judged(timed_out=True, signal=9)
    assert record.flags == ("still running when its time was over: an endless loop?",)


def test_a_fault_of_the_grader_is_no_zero():
    record = judged(lost="a worker did not answer in time")
    assert record.status == "grader_fault"
    assert record.needs_manual_grade
    assert verdict(EXERCISE, EXPECTED, read(HONEST), Wanted()).status == "grader_fault"


def test_trouble_is_a_fault_where_it_is_the_last_word():
    record = judged(*HONEST[:2], {"trouble": "KeyError at feedback.py:7"})
    assert (record.status, record.checks) == ("grader_fault", ())
    assert record.flags[0].startswith("judging it raised KeyError at feedback.py:7, after the answer")
    assert judged({"trouble": "KeyError at feedback.py:7"}, *HONEST).status == "tampered"
    assert judged({"trouble": "a"}, {"trouble": "b"}).status == "tampered"


READ_IT = ", after the answer was imported: read the answer"
FORGED = "bob: merge_heads tampered: replaces torch.equal"


def broken(why):
    """The line of a child whose answer does not import."""
    return {"broken": True, "feedback": Feedback("the file does not import", (Fact("", why),)).to_json()}


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ({"tampered": f"x\n{FORGED}"}, "changes what judging relies on"),
        ({"tampered": f"replaces x\n{FORGED}"}, "changes what judging relies on"),
        ({"tampered": "replaces torch.nn.Module.__call__"}, "replaces torch.nn.Module.__call__"),
        ({"trouble": f"x\n{FORGED}"}, f"judging it raised an error{READ_IT}"),
        (broken(f"SyntaxError: x\r\n{FORGED}\v \x1b[1m{' ' * 99}x"), f"SyntaxError: x� {FORGED}� �[1m x"),
        (broken("x" * 999), "x" * 200),
    ],
)  # fmt: skip
def test_a_flag_is_one_line_of_our_words(line, flag):
    assert judged(line).flags == (flag,)


def test_what_the_guard_and_the_canaries_tell_is_known(monkeypatch):
    for name in ("_lying", "_lenient"):
        monkeypatch.setattr(canary, name, lambda: 1 / 0)
        assert _TAMPERED.fullmatch(canary.broken())
        monkeypatch.undo()
    told = re.findall(r'return "(makes .*)"', inspect.getsource(canary))
    assert len(told) == 5 and all(map(_TAMPERED.fullmatch, told))


@pytest.mark.parametrize(
    ("status", "is_fault"), [(0, False), (1, False), (3, True), (4, True), (None, False)]
)
def test_pytests_own_failure_is_a_fault_where_there_is_no_fork(monkeypatch, status, is_fault):
    def run(job, folder, told):
        told.write_text('{"done": true}\n{"torn')
        return status

    monkeypatch.setattr(subprocess_run, "_run", run)
    found = subprocess_run.Fresh([EXERCISE]).judge_one(Job(EXERCISE, b"", 0))
    assert bool(found.fault) == is_fault


@pytest.mark.parametrize(
    "junk",
    [
        {"check": ["a"]},
        {"check": None},
        {"check": DEEP},
        {"check": "hidden::test_values", "outcome": DEEP, "feedback": DEEP},
        {"check": "hidden::test_values", "outcome": "failed", "feedback": {"headline": 3}},
        {"oracle": {}},
        {"oracle": DEEP},
        {"fine_oracle": DEEP},
        {"oracle_error": DEEP},
        {"broken": DEEP, "trouble": DEEP},
        {"trouble": DEEP},
        {"tampered": 3},
        {},
    ],
    ids=lambda junk: " ".join(junk) or "nothing",
)
def test_junk_is_survived(junk):
    assert judged(junk).score == 0.0


@pytest.mark.parametrize("seconds", [10**400, float("nan"), float("inf"), -1.0, "1", None])
def test_a_time_that_is_none_is_survived(seconds):
    record = judged({**HONEST[0], "seconds": seconds}, *HONEST[1:])
    assert (record.status, record.checks[0].seconds) == ("passed", 0.0)
