"""How far an answer is with the job and the fine print: one judgement, for learners and for scores."""

from collections.abc import Iterable
from dataclasses import dataclass

from grader.course import paths
from grader.course.exercise import Exercise
from grader.protocol.check import Outcome
from grader.protocol.statuses import State, Status
from grader.protocol.transcript import Transcript


def hidden_decide(exercise: Exercise) -> bool:
    """Whether other checks grade it than those that are here, as in a release."""
    return paths.is_release() and not exercise.is_step


@dataclass(frozen=True)
class Standing:
    """How the checks went that ran here: those of the job, and those of the fine print."""

    job: tuple[Outcome, ...] = ()
    fine: tuple[Outcome, ...] = ()

    @classmethod
    def of(cls, checks: Iterable[tuple[bool, Outcome]]) -> "Standing":
        """From one pair for each check: whether it is fine print, and how it went."""
        ran = [(fine, outcome) for fine, outcome in checks if outcome != "not_graded"]
        job, fine = (tuple(outcome for is_fine, outcome in ran if is_fine == on) for on in (False, True))
        return cls(job, fine)

    @property
    def state(self) -> State:
        """What a learner is told, where all was judged."""
        lacking = [outcome for outcome in (*self.job, *self.fine) if outcome != "passed"]
        if self.job and all(outcome == "passed" for outcome in self.job):
            return "works" if lacking else "done"
        if "failed" in lacking or "timeout" in lacking:
            return "failing"
        return "todo" if lacking or not self.fine else "done"

    def state_in(self, transcript: Transcript) -> State:
        """The same where not all may have been: who does the job does it, if this can be believed."""
        if transcript.is_whole:
            return self.state
        is_known = self.state == "works" and not (transcript.forged or transcript.fault)
        return "works" if is_known else "failing"

    def status_in(self, transcript: Transcript, job: float, fine: float) -> Status:
        """What is kept of an answer that is known to do these shares, of which its checks need not be all."""
        if transcript.forged:
            return "tampered"
        if transcript.trouble:  # ours or the answer's doing: its flag asks a person, and it stays in the mean
            return "crashed"
        if not (self.job or self.fine):
            return "not_graded"
        if job == 1.0:
            return status_of(job, fine)
        if transcript.memory:
            return "memory"
        if transcript.ended.timed_out or transcript.last_word == "stopped":
            return "timeout"
        if transcript.last_word == "broken":
            return "broken"
        if not transcript.last_word:
            return "crashed"
        if any(finding.outcome == "todo" for finding in transcript.checks.values()) and job == 0.0:
            return "todo"
        return status_of(job)

    def words(self, exercise: Exercise) -> str:
        """What is said of an answer that works: "it does its job, 9 of 9; fine print 4 of 7".

        Where other checks grade, too, what is here may see nothing of a mistake.
        """
        if hidden_decide(exercise):
            return f"public checks pass, {self.counts}; hidden ones decide"
        return f"it does its job, {self.counts}"

    @property
    def counts(self) -> str:
        """How many checks passed: "9 of 9; fine print 4 of 7"."""
        counts = [_count(self.job)] if self.job else []
        return "; ".join([*counts, f"fine print {_count(self.fine)}"] if self.fine else counts)


NOTHING_RAN = Standing()


def status_of(job: float, fine: float = 1.0) -> Status:
    """Of an answer judged to the end: who does the job does it, whatever the fine print makes of it."""
    if job == 1.0:
        return "passed" if fine == 1.0 else "works"
    return "partial" if job else "failed"


def _count(outcomes: tuple[Outcome, ...]) -> str:
    return f"{outcomes.count('passed')} of {len(outcomes)}"
