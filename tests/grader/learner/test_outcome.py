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
from grader.protocol.transcript import Transcript

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
