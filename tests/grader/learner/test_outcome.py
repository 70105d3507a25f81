"""What a learner is told of an answer that is half written, and what is shown of all that was printed."""

from dataclasses import replace

import pytest

from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.learner.jupyter import Verdict
from grader.learner.outcome import learn
from grader.protocol.check import CheckSpec, Finding
from grader.protocol.feedback import Feedback
from grader.protocol.job import Job
from grader.protocol.transcript import Ended, Transcript, read

EXERCISE = load().exercise("stable_softmax")
SOLUTION = EXERCISE.file("solutions").read_text("utf-8")
START, SUM = "powers, peak = _shifted_exp(x, dim)\n", "total = powers.sum(dim)  # (*reduced)\n"
UNWRITTEN = SOLUTION.replace(START, "raise NotImplementedError\n")


@pytest.fixture(scope="module")
def lesson():
    with Pool([EXERCISE], jobs=1, confined=False) as pool:

        def lesson(text):
            findings = pool.judge_one(Job(EXERCISE, text.encode(), seed=0, mode="check"))
            return learn(EXERCISE, pool.inventory[EXERCISE.slug], findings)

        yield lesson


def test_what_is_half_written_says_which_function_is_not(lesson):
    found = lesson(UNWRITTEN)
    assert found.state == "todo"
    assert found.unwritten == ("logsumexp",)
    assert "softmax: The worked example of the statement comes out." in found.passed
    told = repr(Verdict(found))
    assert "still to write: logsumexp" in told
    assert "✓ softmax: The worked example of the statement comes out." in told


def test_the_start_of_a_fix_fails_and_is_no_red_place():
    found = Transcript({"hidden::t": Finding("failed", Feedback("wrong"))}, last_word="done")
    fix = replace(EXERCISE, kind="fix")
    found = learn(fix, [CheckSpec("hidden::t", "It works.")], found, is_start=True)
    assert (found.state, found.mark) == ("failing", "todo")


def test_a_check_on_several_inputs_passed_where_it_did_on_all():
    names = ("test_a[1]", "test_a[2]", "test_b[1]", "test_b[2]", "test_c")
    outcomes = ("passed", "failed", "passed", "passed", "todo")
    specs = [CheckSpec(f"hidden::{name}", "It works.") for name in names]
    findings = {spec.id: Finding(outcome) for spec, outcome in zip(specs, outcomes, strict=True)}
    assert learn(EXERCISE, specs, Transcript(findings, last_word="done")).held == ("test_b",)


NORMAL = Ended()
JOB, FINE = CheckSpec("hidden::job", "It works."), CheckSpec("hidden::fine", "Strides.", fine=True)
RULE = CheckSpec("hidden::rule", "A rule.", fine=True)


def judged(*lines, ended=NORMAL):
    return learn(EXERCISE, [FINE, RULE, JOB], read(lines, ended))


def told(spec, outcome, **more):
    return {"check": spec.id, "outcome": outcome, "feedback": Feedback("wrong").to_json()} | more


@pytest.mark.parametrize(
    "lines, ended, state",
    [
        ([told(JOB, "passed"), told(FINE, "failed"), told(RULE, "passed"), {"done": True}], Ended(), "works"),
        ([told(JOB, "passed"), told(FINE, "timeout"), {"stopped": "timeout"}], Ended(), "works"),
        ([told(JOB, "passed"), told(FINE, "todo"), told(RULE, "passed"), {"done": True}], Ended(), "works"),
        ([told(JOB, "passed"), told(FINE, "passed")], Ended(signal=11), "works"),
        ([told(JOB, "passed"), told(FINE, "passed"), {"tampered": "replaces max"}], Ended(), "failing"),
        ([told(JOB, "passed")], Ended(lost="gone"), "failing"),
        ([told(JOB, "failed"), told(FINE, "passed"), {"done": True}], Ended(), "failing"),
        ([told(JOB, "todo"), told(FINE, "failed"), {"done": True}], Ended(), "failing"),
        ([told(s, "passed") for s in (JOB, FINE, RULE)] + [{"done": True}], Ended(), "done"),
    ],
)
def test_who_does_the_job_works(lines, ended, state):
    assert judged(*lines, ended=ended).state == state


def test_the_job_comes_first_and_the_fine_print_after_it():
    found = judged(
        told(FINE, "failed"),
        told(RULE, "failed", feedback=Feedback("a rule", kind="rule").to_json()),
        told(JOB, "failed"),
        {"done": True},
    )
    assert [f.line for f in found.failures] == ["It works.", "fine print: A rule.", "fine print: Strides."]
    shown = repr(Verdict(found))
    assert shown.startswith(f"✗ {EXERCISE.slug} · It works.") and "\n✗ fine print: Strides." in shown
    found = judged(told(JOB, "passed"), told(FINE, "failed"), told(RULE, "passed"), {"done": True})
    for shown in (repr(Verdict(found)), Verdict(found)._repr_html_()):
        assert "it does its job, 1 of 1; fine print 1 of 2" in shown and "✗ Strides." in shown


def test_a_method_is_named_with_its_class(lesson):
    late = "class Sum:\n    def of(self, x):\n        raise NotImplementedError\n"
    text = SOLUTION.replace(START, f"return Sum().of(x)\n    {START}") + f"\n\n{late}"
    assert lesson(text).unwritten in (("Sum.of",), ("of",))  # Python 3.10 has no names with classes


def test_only_what_the_shown_failure_printed_is_shown(lesson):
    text = SOLUTION.replace(SUM, f'print("sum of", tuple(x.shape))\n    {SUM}')
    text = text.replace("powers, _ =", 'print("softmax")\n    powers, _ =')
    found = lesson(f'{text.replace("return result", "return 2 * result")}\nprint("imported")\n')
    assert found.failures[0].title == "logsumexp: The worked example of the statement comes out."
    assert found.printed == "imported\nsum of (1, 3)\n"
    assert lesson(text).printed == "softmax\n"  # nothing fails: of the first check


def test_warnings_are_not_printed(lesson):
    late = 'import warnings; warnings.warn("old"); print("mine")'
    assert lesson(SOLUTION.replace("powers, _ =", f"{late}\n    powers, _ =")).printed == "mine\n"
