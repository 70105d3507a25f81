"""The grading parent's side of the engine, with a real engine at the other end."""

import math
import weakref
from dataclasses import replace

import pytest

from grader.course.catalog import load
from grader.engine.pool import AHEAD, Pool
from grader.protocol.job import Job
from grader.protocol.transcript import Ended, Transcript
from grader.verdict.references import References
from grader.verdict.score import OracleResults, verdict

pytestmark = pytest.mark.slow

EXERCISE = load().exercise("merge_heads")
SOLUTION = EXERCISE.file("solutions").read_text("utf-8")


@pytest.fixture(scope="module")
def pool():
    with Pool((EXERCISE,), jobs=2, confined=False) as pool:
        yield pool


def judged(pool, *answers):
    references = References(pool, 0)
    jobs = [Job(EXERCISE, answer.encode(), 0) for answer in answers]
    return {job.answer.decode(): references.verdict(job, found) for job, found in pool.judge(jobs)}


ONCE = """import os, pathlib, time
def merge_heads(x):
    mark = pathlib.Path({mark!r})
    if not mark.exists():
        mark.touch()
        {does}
    return x.transpose(1, 2).flatten(2)
"""


def test_what_a_neighbour_may_have_caused_is_judged_again(pool, tmp_path):
    does = {
        "ends": "os.kill(os.getpid(), 9)",
        "has no descriptors": "raise OSError(109, os.strerror(109))",
        "has no threads": 'raise RuntimeError("can\'t start new thread")',
        "waits": "time.sleep(20)",
    }
    marks = {name: str(tmp_path / name) for name in does}
    answers = [ONCE.format(mark=marks[name], does=does[name]) for name in does]
    found = judged(pool, *answers, SOLUTION)
    assert [record.status for record in found.values()] == ["passed"] * 5


def test_who_always_ends_crashes_after_all_others(pool, tmp_path):
    count = tmp_path / "count"
    ends = f"import os\nopen({str(count)!r}, 'a').write('x')\nos._exit(0)\n"
    found = judged(pool, ends + SOLUTION, SOLUTION, f"{SOLUTION}\n")
    assert [record.status for record in found.values()] == ["passed", "passed", "crashed"]
    assert found[ends + SOLUTION].flags == ("left before it was judged to the end",)
    assert count.read_text() == "xxxx", "twice, for the oracle and for the checks"


def test_an_answer_that_ends_its_worker_stops_nobody_else(pool, monkeypatch):
    monkeypatch.setattr("grader.engine.channel.GRACE", math.inf)  # nobody waits for its word
    ends = f"import os\nos.kill(os.getppid(), 9)\n{SOLUTION}"
    found = judged(pool, SOLUTION, ends, f"{SOLUTION}\n", f"{SOLUTION}\n\n")
    assert found.pop(ends).status == "grader_fault"
    assert {record.status for record in found.values()} == {"passed"}


def test_a_kill_names_what_kills(pool):
    ends = "import os\nos.kill(os.getpid(), 9)\n"
    (record,) = judged(pool, ends).values()
    assert record.status == "crashed" and "ran out of memory" in record.flags[0]


def test_an_error_of_ours_before_the_answer_is_the_workers_word(pool):
    unknown = replace(EXERCISE, slug="unheard_of")
    transcript = pool.judge_one(Job(unknown, b"", 0))
    assert "no exercise is called 'unheard_of'" in transcript.ended.lost and not transcript.checks
    assert (
        verdict(EXERCISE, pool.inventory[EXERCISE.slug], transcript, OracleResults(["i", "7"])).status
        == "grader_fault"
    )


RAISING = """import warnings
def raising():
    raise ValueError("bob cheated")
warnings.catch_warnings = raising
"""
TELLING = """import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "_tell"):
    frame = frame.f_back
frame.f_locals["self"]._tell(trouble="bob cheated")
"""


def test_an_error_of_ours_after_it_is_told_in_our_words(pool):
    ends = f"{TELLING}import os\nos._exit(0)\n"
    found = judged(pool, RAISING + SOLUTION, ends, TELLING + SOLUTION)
    told = "twice, after the answer was imported: read the answer"
    assert found[RAISING + SOLUTION].flags == (
        f"judging it raised ValueError at {EXERCISE.slug}.py:3, {told}",
    )
    assert found[ends].flags == (f"judging it raised an error, {told}",)
    assert {found[RAISING + SOLUTION].status, found[ends].status} == {"crashed"}
    assert found[TELLING + SOLUTION].status == "tampered"


def test_memory_that_the_answer_has_used_up_is_no_error_of_ours(pool):
    used = RAISING.replace('ValueError("bob cheated")', "MemoryError")
    (record,) = judged(pool, used + SOLUTION).values()
    assert record.status == "memory"


class Instant(Pool):
    """A pool without an engine, which remembers what it found for as long as somebody else does."""

    def __init__(self, jobs):
        self._jobs, self.made = jobs, []

    def judge_one(self, job, *, alone=False):
        transcript = Transcript(ended=Ended(exit=job.seed))
        self.made.append(weakref.ref(transcript))
        return transcript


def test_transcripts_go_when_they_have_been_judged():
    jobs, count = 2, 100
    pool, seen = Instant(jobs), set()
    for job, found in pool.judge(Job(EXERCISE, b"", n) for n in range(count)):
        assert found.ended.exit == job.seed
        seen.add(job.seed)
        kept = sum(made() is not None for made in list(pool.made))
        assert kept <= AHEAD * jobs + 1, "each worker's few, and the one that is judged now"
    assert seen == set(range(count))


@pytest.mark.usefixtures("confines")
@pytest.mark.parametrize("deaths", [1, 2])
def test_an_engine_that_ends_is_started_again_once(deaths):
    jobs = [Job(EXERCISE, f"{SOLUTION}\n# {n}".encode(), 0) for n in range(12)]
    with Pool((EXERCISE,), jobs=1, confined=True) as pool:
        found = []
        for _, transcript in pool.judge(jobs):
            if len(found) in (1, 4)[:deaths]:
                pool._running._process.kill()
            found.append(transcript)
        lost = {each.ended.lost.partition(" (")[0] for each in found if each.ended.lost}
        assert lost == ({"the engine is gone"} if deaths == 2 else set())
        assert len(found) == len(jobs) and not found[4].ended.lost
        reference = pool.reference(Job(EXERCISE, SOLUTION.encode(), 0))
        assert bool(reference.ended.lost) == (deaths == 2)


def test_a_pool_that_is_closed_starts_nothing():
    pool = Pool((EXERCISE,), jobs=1, confined=False).__enter__()
    running = pool._running
    pool.close()
    assert pool.judge_one(Job(EXERCISE, SOLUTION.encode(), 0)).ended.lost
    assert pool._running is running
