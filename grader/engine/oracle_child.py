"""Ask an exercise's oracle about one answer, in a process that holds nothing worth finding.

What the oracle gives is compared elsewhere, so this process is not watched: an answer that breaks it breaks
its own result.
"""

from types import ModuleType

import torch

from grader.checks.error_words import error_line
from grader.core.errors import KataError
from grader.core.timeout import TooSlow, within
from grader.engine import oracle
from grader.engine.answer_file import written
from grader.engine.telling import Telling
from grader.plugin import load_answer, process_state
from grader.protocol.job import Job


class OracleChild:
    """The process that hands one answer to the oracle in `module`."""

    def __init__(
        self, module: ModuleType | KataError, job: Job, telling: Telling, seconds: float, *, on_ranks: bool
    ) -> None:
        self._module = module
        self._job = job
        self._tell = telling.tell
        self._seconds = seconds
        self._on_ranks = on_ranks

    def prepare(self, answer: int) -> None:
        """All that can be done before the answer, which is read from this descriptor, is imported."""
        if isinstance(self._module, KataError):
            raise self._module
        torch.set_num_threads(1)  # as `grader.engine.child` says
        self._file = written(self._job.exercise, answer)
        if self._on_ranks:
            from grader.checks import distributed  # imports torch.distributed, which most oracles do not need

            if distributed.is_available() is None:
                distributed.prepare()

    def run(self) -> None:
        """Tell what the oracles give, encoded, or why the first gives nothing."""
        assert isinstance(self._module, ModuleType)  # `prepare` saw to it
        job = self._job
        try:
            with process_state.kept(), within(self._seconds):
                answer = load_answer.load(self._file, self._job.exercise)
            oracle.ask(self._module, answer, job.slug, job.seed, self._seconds, self._tell)
        except TooSlow as late:
            self._tell(oracle_error=error_line(late))
            self._tell(stopped="timeout")
            return
        except BaseException as error:
            self._tell(oracle_error=error_line(error), memory=isinstance(error, MemoryError))
        self._tell(done=True)
