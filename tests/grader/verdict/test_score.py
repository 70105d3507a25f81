"""The score counts what is known to have passed, and no more than the oracle's cases that agree."""

import inspect
import json
import re
from dataclasses import replace

import pytest

from grader.course.exercise import Exercise
from grader.course.policy import Policy
from grader.engine.integrity import canary
from grader.plugin import subprocess_run
from grader.protocol.check import CheckSpec
from grader.protocol.feedback import Fact, Feedback
from grader.protocol.job import Job
from grader.protocol.transcript import _TAMPERED, MOST_LINES, Ended, read
from grader.records.comments import comment
from grader.records.records import exercise_from_json, exercise_to_json
from grader.verdict.score import OracleResults, scored, verdict

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
    return verdict(EXERCISE, EXPECTED, read(lines, Ended(**ending)), OracleResults(WANTED))


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
    assert (record.status, record.score) == ("partial", 0.8667)


def test_what_is_still_to_write_is_told_by_its_name():
    unwritten = {"check": "hidden::test_values", "outcome": "todo", "unwritten": "logsumexp"}
    lines = [*without("hidden::test_values"), unwritten]
    lines[-3] = {"oracle": ["d", [["the sum", ["e", "NotImplementedError"]]]]}
    record = verdict(EXERCISE, EXPECTED, read(lines), OracleResults(["d", [["the sum", ["i", "7"]]]]))
    told = {check.id: check.message for check in record.checks if check.outcome == "failed"}
    assert told == {
        "hidden::test_values": "still to write: logsumexp",
        "oracle::the sum": "the sum: still to write",
    }


def test_a_silent_check_is_missing_and_not_passed():
    record = judged(*without("hidden::test_gradient"))
    assert record.score == 0.8667
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
    return verdict(EXERCISE, EXPECTED + FINE, read(told), OracleResults(CASES, wanted_fine))


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
    assert (record.status, record.job, record.score) == ("partial", 0.3333, 0.4333)
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


@pytest.mark.parametrize("fine_print", [0.0, 0.1, 0.3, 0.5, 1.0])
def test_what_does_not_work_never_earns_more_than_what_does(fine_print):
    policy = Policy(fine_print)
    best_of_the_failing = max(policy.score(2.0, 0.999, fine) for fine in (0.0, 1.0))
    assert best_of_the_failing <= min(policy.score(2.0, 1.0, 0.0), 2 * 0.65)
    assert Policy(fine_print, strict=True).score(2.0, 0.999, 1.0) == 0.0


RULE = CheckSpec("hidden::test_own", "Without torch's own.", None, of="softmax")
OTHERS = [
    CheckSpec("hidden::test_softmax", "Right.", None, of="softmax"),
    CheckSpec("hidden::test_logsumexp", "Right.", None, of="logsumexp"),
    CheckSpec("hidden::test_both", "Right.", None),
]
WRONG = {"check": RULE.id, "outcome": "failed"}
BROKEN = {**WRONG, "feedback": Feedback("softmax(x) uses what is ruled out", kind="rule").to_json()}
BY_FUNCTION = [["softmax of rows", ["i", "7"]], ["the gradient through logsumexp", ["i", "8"]]]


def judged_by_rule(rule, *others, line=BROKEN):
    told = [{"check": spec.id, "outcome": "passed"} for spec in others]
    cases = ["d", BY_FUNCTION]
    lines = read([*told, line, {"oracle": cases}, {"done": True}])
    return verdict(EXERCISE, [*others, rule], lines, OracleResults(cases))


@pytest.mark.parametrize(
    ("rule", "others", "job", "share", "status"),
    [
        (RULE, OTHERS[:1], 0.0, 0.5, "failed"),
        (replace(RULE, of=""), OTHERS, 0.0, 0.75, "failed"),
        (RULE, OTHERS, 0.5, 0.75, "partial"),
        (replace(RULE, fine=True), OTHERS, 1.0, 1.0, "works"),
    ],
    ids=["one function", "no function in particular", "one of two functions", "fine print"],
)
def test_who_breaks_a_rule_has_not_done_the_job_of_that_function(rule, others, job, share, status):
    record = judged_by_rule(rule, *others)
    assert (record.status, record.job, record.checks[0].id) == (
        status,
        job,
        others[0].id if job == 1 else RULE.id,
    )
    assert (RULE.title in (comment(record) or "").splitlines()[2]) or job == 1
    loose = scored(record, Policy(rules="share"))
    assert loose.score == Policy().score(2.0, share, record.fine)
    assert scored(loose, Policy()) == scored(exercise_from_json(exercise_to_json(record)), Policy()) == record
    assert loose.status == ("works" if job == 1 else "partial")
    unruly = judged_by_rule(rule, *others, line=WRONG)
    assert (unruly.job, unruly.against_rules) == (share, 0.0)


def test_the_worked_example_earns_a_little_and_replaces_nothing():
    example = ["d", [["softmax", ["l", [["i", "7"]]]]]]
    wanted = OracleResults(CASES, example=example)
    checks = [line for line in HONEST if "check" in line]

    def job(oracle, given):
        return verdict(
            EXERCISE, EXPECTED, read([*checks, {"oracle": oracle}, {"example_oracle": given}]), wanted
        ).job

    assert job(None, example) == job(["d", []], example) == 0.1
    assert job(CASES, example) == 1.0
    assert job(CASES, None) == job(CASES, ["d", [["softmax", ["l", []]]]]) == 0.9
    assert job(CASES, DEEP) == 0.9


def test_what_the_start_does_is_to_be_kept_and_earns_nothing():
    start = frozenset({"public::test_shape", "oracle::three rows", "oracle::one row"})

    def job(checks, *cases):
        told = [{"check": spec.id, "outcome": "passed"} for spec in EXPECTED[:3] if spec.id in checks]
        right = ["d", [[name, value if name in cases else ["i", "0"]] for name, value in CASES[1]]]
        lines = read([*told, {"oracle": right}, {"done": True}])
        return verdict(EXERCISE, EXPECTED, lines, OracleResults(CASES, start=start)).job

    shape, values, gradient = (spec.id for spec in EXPECTED[:3])
    assert job({shape}, "three rows", "one row") == job({shape, values}, "three rows", "one row") == 0.0
    assert job({shape, values}, "three rows", "one row", "the gradient") == 0.5
    assert job({shape, values, gradient}, "three rows", "the gradient") == 0.5
    assert job({values, gradient}, "the gradient") == 0.0
    assert job({shape, values, gradient}, "three rows", "one row", "the gradient") == 1.0


def test_cases_are_told_by_their_names_first():
    names, results = zip(*CASES[1], strict=True)
    lines = [{"oracle_cases": names}, {"oracle": results}]
    assert read(json.loads(json.dumps(lines))).oracle == CASES
    for junk in (
        [{"oracle_cases": DEEP}, *lines[1:]],
        [*lines, lines[0]],
        [{"oracle_cases": 3}, {"oracle": 3}],
    ):
        assert verdict(EXERCISE, EXPECTED, read(junk), OracleResults(CASES)).score == 0.0


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
    assert verdict(EXERCISE, EXPECTED, read(HONEST), OracleResults()).status == "grader_fault"


def test_trouble_is_told_where_it_is_the_last_word_and_takes_nobody_out_of_the_mean():
    record = judged(*HONEST[:2], {"trouble": "KeyError at feedback.py:7"})
    assert (record.status, record.needs_manual_grade) == ("crashed", False)
    assert record.checks[0].outcome == "passed" and "missing" in {check.outcome for check in record.checks}
    assert record.flags == (f"judging it raised KeyError at feedback.py:7{READ_IT}",)
    assert judged({"trouble": "KeyError at feedback.py:7"}, *HONEST).status == "tampered"
    assert judged({"trouble": "a"}, {"trouble": "b"}).status == "tampered"


READ_IT = ", twice, after the answer was imported: read the answer"
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
        (broken(f"SyntaxError: x\r\n{FORGED}\v \x1b[1m{' ' * 99}x"), f"SyntaxError: x� {FORGED}� x"),
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
