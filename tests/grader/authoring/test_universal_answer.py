"""No exercise is done by an answer that looks for its values in the process that judges it."""

import os

import pytest

from grader.course.catalog import load
from grader.engine.pool import Pool
from grader.protocol.job import Job
from grader.verdict.references import References
from tests.grader.support.universal_answer import answer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("confines")]

SEED = 11


WAITING = ("e04", "e07", "e08")
"""Their loaders, ranks and compilers wait for an answer that gives nonsense, until its time is up."""

SECTIONS = [section.name for section in load().sections if not section.name.startswith(WAITING)]


@pytest.mark.parametrize(("section", "claims"), [*((name, False) for name in SECTIONS), (SECTIONS[0], True)])
def test_a_universal_answer_does_no_job(section, claims):
    # What is to be found of a step lies open anyway: its suite is public, and it weighs nothing.
    exercises = tuple(e for e in load().select([section]) if not e.is_step and not e.is_project)
    jobs = [
        Job(e, answer(e.file("solutions").read_text("utf-8"), claims=claims).encode(), SEED)
        for e in exercises
    ]
    done = []
    with Pool(exercises, jobs=os.cpu_count() or 1, confined=True) as pool:
        references = References(pool, SEED)
        for job, found in pool.judge(jobs):
            record = references.verdict(job, found)
            assert record.status != "grader_fault", f"{job.slug}: {record.flags}"
            if record.status in ("works", "passed") or record.job == 1.0:
                done.append((job.slug, record.status, record.job))
    assert not done
