"""What audits remember: a record for the same trial, and for no other."""

from dataclasses import replace

import pytest

from grader.authoring.memory import Memory
from grader.course.catalog import load
from grader.protocol.job import Job
from grader.records.records import ExerciseRecord

RECORD = ExerciseRecord("failed", 0.0, 2.0)


@pytest.fixture
def job():
    return Job(load().exercise("merge_heads"), b"a = 1", 0)


@pytest.fixture
def kept(tmp_path, job):
    memory = Memory(tmp_path)
    memory.keep(job, RECORD)
    memory.settle(job.exercise)
    memory.write()
    return tmp_path


def test_the_same_trial_is_known(kept, job):
    assert Memory(kept).record(job) == RECORD
    assert Memory(kept).is_settled(job.exercise)


@pytest.mark.parametrize(
    "other", [{"answer": b"a = 2"}, {"seed": 1}, {"shuffled": True}, {"only": ("public::test_example",)}]
)
def test_another_trial_is_not(kept, job, other):
    assert Memory(kept).record(replace(job, **other)) is None


def test_a_fresh_audit_knows_nothing(kept, job):
    memory = Memory(kept, fresh=True)
    assert memory.record(job) is None and not memory.is_settled(job.exercise)


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"address": 1}'])
def test_a_damaged_file_is_no_memory(kept, job, damaged):
    (kept / "merge_heads.json").write_text(damaged)
    assert Memory(kept).record(job) is None


def test_what_was_not_judged_is_not_kept(tmp_path, job):
    memory = Memory(tmp_path)
    memory.keep(job, replace(RECORD, status="grader_fault"))
    memory.write()
    assert not list(tmp_path.iterdir())


def test_what_is_asked_for_no_more_goes(kept, job):
    memory = Memory(kept)
    memory.keep(replace(job, seed=1), RECORD)
    memory.write()
    assert Memory(kept).record(job) is None
