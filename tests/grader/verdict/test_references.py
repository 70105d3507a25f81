"""What a reference and a start give, with a judge that says what it is told to."""

from typing import ClassVar

import pytest

from grader.core.packed import packed, unpacked
from grader.course import starts, variant
from grader.course.exercise import Exercise, digest
from grader.protocol.check import CheckSpec
from grader.protocol.job import Job
from grader.protocol.transcript import read
from grader.verdict.references import References
from tests.grader.support import capstone

START = b'''"""Scale a tensor."""

import torch


def scale(x):
    """Twice x, for floats."""
    return x * 2  # integers, too
'''
SAME = b"""import torch

def scale(x):
    # I shall look at it tomorrow

    return (x * 2)
"""
HALF = START.replace(b"x * 2", b"x + x")
RIGHT = START.replace(b"x * 2", b"x * 2.0")
CASES = ["floats", "integers", "many", "nothing"]
RIGHT_IN = {START: CASES[:2], SAME: CASES[:2], HALF: CASES[:3], RIGHT: CASES, b"def scale(:": CASES[:1]}


class Judge:
    """Says of each answer in which cases it is right."""

    inventory: ClassVar = {"scale": [CheckSpec("public::test_values", "Right values.")]}

    def __init__(self):
        self.asked = []

    def reference(self, job):
        self.asked.append(job.answer)
        return self.judge_one(job)

    def judge_one(self, job):
        cases = [[name, ["b", name in RIGHT_IN[job.answer]]] for name in CASES]
        checks = [{"check": "public::test_values", "outcome": "passed"}]
        return read([*checks, {"oracle": ["d", cases]}, {"done": True}])


@pytest.fixture
def exercise(tmp_path):
    made = Exercise(
        "scale",
        "e01_x",
        1,
        "Scale",
        "fix",
        "core",
        2.0,
        1,
        (),
        (),
        (),
        "",
        start=digest(START),
        root=tmp_path,
    )
    for tree, content in (("exercises", START), ("solutions", RIGHT)):
        made.file(tree).parent.mkdir(parents=True)
        made.file(tree).write_bytes(content)
    return made


@pytest.mark.parametrize(
    ("answer", "status", "job"),
    [
        (START.replace(b"\n\n\n", b"\n\n"), "todo", 0.0),
        (SAME, "todo", 0.0),
        (HALF, "partial", 0.5),
        (RIGHT, "passed", 1.0),
        (b"def scale(:", "failed", 0.0),
    ],
    ids=["a blank line less", "the start in other words", "half of the rest", "right", "less than the start"],
)
def test_what_the_start_does_earns_nothing(exercise, answer, status, job):
    RIGHT_IN.setdefault(answer, CASES[:2])
    judge = Judge()
    references = References(judge, 0)
    for _ in range(2):
        record = references.verdict(Job(exercise, answer, 0), judge.judge_one(Job(exercise, answer, 0)))
        assert (record.status, record.job) == (status, job)
    assert judge.asked.count(START) == (status in ("partial", "failed")), "once, and only where it matters"


def test_a_start_that_is_nowhere_makes_no_grade_up(exercise):
    exercise.file("exercises").write_bytes(HALF)
    starts.content.cache_clear()
    judge = Judge()
    references = References(judge, 0)
    record = references.verdict(Job(exercise, HALF, 0), judge.judge_one(Job(exercise, HALF, 0)))
    assert record.needs_manual_grade and "git cannot be asked" in record.flags[0]
    whole = references.verdict(Job(exercise, RIGHT, 0), judge.judge_one(Job(exercise, RIGHT, 0)))
    assert whole.status == "passed"


class SumsJudge(Judge):
    """Says of a capstone's answer which of its sums are right."""

    inventory: ClassVar = {capstone.SLUG: Judge.inventory["scale"]}

    def judge_one(self, job):
        text = b"".join(unpacked(job.answer).values()).decode()
        sums = enumerate(capstone.NAMES, 100)
        cases = [[name, ["b", f"x + {n}" in text]] for n, name in sums]
        checks = [{"check": "public::test_values", "outcome": "passed"}]
        return read([*checks, {"oracle": ["d", cases]}, {"done": True}])


def test_what_a_capstones_variant_does_earns_nothing(tmp_path):
    given = capstone.exercise(tmp_path)
    judge = SumsJudge()
    references = References(judge, 0)
    for seed in (0, 7):  # one after the other: each has a start of its own
        exercise = variant.of(given, seed, starts.content(given))
        text = starts.content(exercise)
        bugs = [capstone.NAMES.index(name) + 100 for name in variant.chosen(exercise, seed)]
        for mended, wanted in ((0, 0.0), (1, 0.2), (4, 0.8), (5, 1.0)):
            files = unpacked(text)
            for n in bugs[:mended]:
                files = {name: held.replace(b"x - %d" % n, b"x + %d" % n) for name, held in files.items()}
            job = Job(exercise, packed(files), 0)
            assert references.verdict(job, judge.judge_one(job)).job == wanted, (seed, mended)
