"""The engine of a suite, as the process that uses it sees it: started, and asked part after part."""

import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from grader.classroom.suite.inventory import TestFile
from grader.classroom.suite.part import Part, SuiteTranscript, of_file
from grader.classroom.suite.suite import Suite
from grader.core.packed import Files, packed
from grader.engine.pool import Pool
from grader.engine.running import EngineSpec
from grader.protocol.check import Finding
from grader.protocol.feedback import Feedback
from grader.protocol.job import Job
from grader.protocol.transcript import Ended, Transcript

MOST_RESTARTS = 100
MOST_HANGING = 8
"""So many tests of a file may end their process, or be ended with it, before the rest is left alone."""
_Ask = Callable[[Job], Transcript]


class SuitePool(Pool):
    """A warm suite with `jobs` workers."""

    def __init__(self, suite: Suite, reference: Files, *, jobs: int, confined: bool) -> None:
        super().__init__((), jobs=jobs, confined=confined, spec=_spec(suite, reference))

    def judge_one(self, job: Job, *, alone: bool = False) -> SuiteTranscript:
        """Run the tests of some files."""
        assert isinstance(job, Part)
        return judged_by(partial(super().judge_one, alone=alone), job)

    def reference(self, job: Job) -> SuiteTranscript:
        """Run them on the reference, in a worker that sees no submission."""
        assert isinstance(job, Part)
        return judged_by(super().reference, job)

    def is_open(self, found: Transcript) -> bool:
        each = found.files.values() if isinstance(found, SuiteTranscript) else ()
        return any(super(SuitePool, self).is_open(one) or _by_clock(one) for one in (found, *each))


def _by_clock(found: Transcript) -> bool:
    """Whether a test may have failed by how busy the machine was."""
    return any(each.by_clock and each.outcome == "failed" for each in found.checks.values())


def judged_by(ask: _Ask, job: Part) -> SuiteTranscript:
    """Run all files in one process; where anything but tests comes in the way, each in one of its own."""
    found = ask(job)
    if _is_whole(job, found) or (_hangs(found) and not found.importing):  # which is in a conftest
        each = dict.fromkeys(job.files, found)
    elif len(job.files) == 1:
        each = {job.files[0]: _gone_on(ask, job, found)}
    else:
        each = _alone(ask, job, found)
    files = {file.path: _said(of_file(whole, file)) for file, whole in each.items()}
    cut = any(one.cut_short for one in files.values())
    lost = next((one.ended.lost for one in files.values() if one.ended.lost), "")
    return SuiteTranscript(last_word="" if cut else "done", ended=Ended(lost=lost), files=files)


def _alone(ask: _Ask, job: Part, together: Transcript) -> dict[TestFile, Transcript]:
    """Run each file in a process of its own. What does not end while it is imported is waited for once."""
    endless = [together.importing] if _hangs(together) else []
    each = {}
    for file in job.files:
        one = replace(job, files=(file,), endless=tuple(endless))
        found = together if file.path in endless else ask(one)
        if _hangs(found) and found.importing:
            endless.append(found.importing)
        each[file] = _gone_on(ask, one, found)
    return each


def _hangs(found: Transcript) -> bool:
    """Whether something took too long while it was imported."""
    return not found.collected and (found.last_word == "stopped" or found.ended.timed_out)


def _is_whole(job: Part, found: Transcript) -> bool:
    """Whether all tests were run, one after the other, in one process that ended as it should."""
    is_sound = found.last_word in ("done", "stopped") and not found.memory and not found.fault
    return is_sound and not found.forged and not found.ended.exit and found.checks.keys() == {*job.tests}


def _said(found: Transcript) -> Transcript:
    """A file's part of what was told: another file's tests may have taken too long."""
    if found.last_word != "stopped" or found.broken:
        return found
    late = any(finding.outcome == "timeout" for finding in found.checks.values())
    return replace(found, last_word="stopped" if late else "done")


def _gone_on(ask: _Ask, job: Part, last: Transcript) -> Transcript:
    """Where one of a file's tests has ended its process, other processes go on with those after it."""
    found = _blamed(job, last)
    restarts = hanging = 0
    while (first := _first_missing(job, found)) is not None and last.collected and _is_cut(last):
        hanging += last.ended.timed_out
        if restarts == MOST_RESTARTS or hanging > MOST_HANGING:
            left = Finding("missing", Feedback("not run: too many tests before it have ended their process"))
            return replace(found, checks={**found.checks, job.tests[first]: left})
        restarts += 1
        last = ask(replace(job, first=first))
        found = _joined(found, _blamed(replace(job, first=first), last))
    return found


def _first_missing(job: Part, found: Transcript) -> int | None:
    return next((place for place, test in enumerate(job.tests) if test not in found.checks), None)


def _is_cut(found: Transcript) -> bool:
    """Whether a process ended while a test ran, by whatever the test did."""
    ended = found.ended
    return not (found.last_word or found.forged or ended.lost or ended.overflow)


def _blamed(job: Part, found: Transcript) -> Transcript:
    """What came of a process, with the test that it ended in."""
    test = next((test for test in job.tests[job.first :] if test not in found.checks), None)
    if test is None or not found.collected or not _is_cut(found):
        return found
    late = found.ended.timed_out
    said = "took too long, and did not listen to the alarm" if late else f"ended the process ({_how(found)})"
    blamed = Finding("timeout" if late else "failed", Feedback(said))
    return replace(found, checks={**found.checks, test: blamed})


def _how(found: Transcript) -> str:
    """How a process ended that said nothing."""
    ended = found.ended
    if ended.signal == signal.SIGKILL:
        return "signal 9: it held too many processes, or the machine ran out of memory"
    return f"signal {ended.signal}" if ended.signal else f"exit status {ended.exit}"


def _joined(one: Transcript, other: Transcript) -> Transcript:
    """What came of a file of tests of which two processes ran a part each."""
    ended = one.ended if _is_cut(one) else other.ended
    return replace(
        other,
        checks={**one.checks, **other.checks},
        last_word="" if _is_cut(one) else other.last_word,
        memory=one.memory or other.memory,
        ended=replace(ended, timed_out=one.ended.timed_out or other.ended.timed_out, lost=other.ended.lost),
    )


def _spec(suite: Suite, reference: Files) -> EngineSpec:
    """The engine of a suite, whose tests are collected with these files."""
    files = {"suite": packed(suite.files), "given": packed(suite.given), "reference": packed(reference)}
    settings = {"place": suite.place, "config": suite.config, "seconds": suite.settings.seconds}
    return EngineSpec("grader.classroom.suite.court", settings, files)
