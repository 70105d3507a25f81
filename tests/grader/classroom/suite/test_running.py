"""What one process could not run to the end, others go on with; here, a function stands for processes."""

import pytest

from grader.classroom.suite import inventory
from grader.classroom.suite.part import part
from grader.classroom.suite.running import MOST_RESTARTS, judged_by
from grader.protocol.check import CheckSpec, Finding
from grader.protocol.feedback import Feedback
from grader.protocol.transcript import Ended, Transcript

TESTS = {"t/test_a.py": ["one", "two", "three"], "t/test_b.py": ["four"]}
PASSED = Finding("passed")


def asked():
    checks = {path: [CheckSpec(id, id) for id in ids] for path, ids in TESTS.items()}
    tests = inventory.listed("hw", "", "", checks)
    return part(tests, tests.files, b"", 1.0)


class Processes:
    """Run the tests asked for; `ends` says how a process ends in a test, or, by its file, while importing."""

    def __init__(self, **ends):
        self.ends = ends
        self.started = []
        self.waited = []

    def waits(self, found):
        self.waited.append(found.importing)
        return found

    def __call__(self, job):
        tests = [test.partition("::")[2] for test in job.tests]
        self.started.append(tests[job.first :])
        found = {}
        for test, id in list(zip(job.tests, tests, strict=True))[job.first :]:
            ending = self.ends.get(id, "passed")
            if isinstance(ending, Ended):
                return Transcript(found, collected=True, ended=ending)
            if ending == "importing":
                return Transcript()
            if isinstance(ending, tuple):  # the module that does not end, unless that is known
                ended = Ended(signal=9, timed_out=True)
                late = Transcript(ended=ended, importing=ending[0])
                return Transcript(last_word="stopped") if ending[0] in job.endless else self.waits(late)
            found[test] = Finding(ending)
        word = "stopped" if any(f.outcome == "timeout" for f in found.values()) else "done"
        return Transcript(found, last_word=word, collected=True)


def outcomes(told):
    return [(id, finding.outcome) for file in told.files.values() for id, finding in file.checks.items()]


def test_all_files_are_run_in_one_process():
    run = Processes(two="failed")
    told = judged_by(run, asked())
    assert run.started == [["one", "two", "three", "four"]]
    assert outcomes(told) == [("one", "passed"), ("two", "failed"), ("three", "passed"), ("four", "passed")]
    assert {file.last_word for file in told.files.values()} == {"done"}


def test_what_takes_too_long_is_of_its_file_alone():
    told = judged_by(Processes(two="timeout"), asked())
    assert [file.last_word for file in told.files.values()] == ["stopped", "done"]


@pytest.mark.parametrize(
    ("ended", "outcome", "said"),
    [
        (Ended(exit=3), "failed", "ended the process (exit status 3)"),
        (Ended(signal=11), "failed", "ended the process (signal 11)"),
        (Ended(timed_out=True, signal=9), "timeout", "took too long, and did not listen to the alarm"),
    ],
)
def test_a_test_that_ends_the_process_costs_itself(ended, outcome, said):
    run = Processes(two=ended)
    told = judged_by(run, asked())
    assert run.started == [["one", "two", "three", "four"], ["one", "two", "three"], ["three"], ["four"]]
    assert outcomes(told) == [("one", "passed"), ("two", outcome), ("three", "passed"), ("four", "passed")]
    a, b = told.files.values()
    assert a.checks["two"].feedback == Feedback(said) and a.ended == ended and not a.last_word
    assert b.last_word == "done" and b.ended == Ended()


def test_what_dies_while_importing_is_not_tried_test_by_test():
    run = Processes(one="importing", four="importing")
    told = judged_by(run, asked())
    assert len(run.started) == 3 and outcomes(told) == []
    assert told.cut_short


@pytest.mark.parametrize(
    ("modules", "waited", "started"),
    [
        ("model model", ["model"], 3),
        ("model other", ["model", "other"], 3),
        ("t/test_a.py t/test_b.py", ["t/test_a.py", "t/test_b.py"], 2),
        (" ", [""], 1),  # a conftest's, which all have
    ],
)
def test_what_does_not_end_while_it_is_imported_is_waited_for_once(modules, waited, started):
    one, four = modules.split(" ")
    run = Processes(one=(one,), four=(four,))
    told = judged_by(run, asked())
    assert (run.waited, len(run.started)) == (waited, started)
    assert outcomes(told) == [] and all(not file.collected for file in told.files.values())


def test_restarts_come_to_an_end():
    ids = [f"test{number}" for number in range(3 * MOST_RESTARTS)]
    tests = inventory.listed("hw", "", "", {"t/test_c.py": [CheckSpec(id, id) for id in ids]})
    run = Processes(**dict.fromkeys(ids, Ended(exit=1)))
    (file,) = judged_by(run, part(tests, tests.files, b"", 1.0)).files.values()
    assert len(run.started) == MOST_RESTARTS + 1 == len(file.checks) - 1


def test_our_own_faults_are_told_as_such():
    told = judged_by(lambda job: Transcript(ended=Ended(lost="no room")), asked())
    assert told.ended.lost == "no room" and not told.cut_short
    assert [file.ended.lost for file in told.files.values()] == ["no room", "no room"]
