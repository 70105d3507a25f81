"""The warm parent: torch imported and suites collected once, one forked child per answer.

    python -m grader.engine '{"sockets": [5, 6], "control": 7, "confined": true, "slugs": ["merge_heads"]}'

The parent forks one worker per socket and replaces those that die. A worker waits for jobs on its
socket; each comes with two descriptors, one to read the answer from and one to write results to.
Only the child that judges an answer reads it, so that no later child can find it in memory that it
inherited. The worker itself answers with how the child ended.
"""

import io
import json
import os
import random
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from grader import collected, feedback, paths, plugin, sandbox, seeds, wire
from grader.answers import Answers
from grader.catalog import Exercise, load
from grader.checks import CheckFailure
from grader.collected import Check, Suites
from grader.errors import KataError
from grader.guard import Guard, freeze

MOST_MESSAGE = 4000
"""Characters of feedback that one check may take."""


@dataclass(frozen=True)
class Job:
    """What to do with the answer that comes along.

    `mode` is "judge" for checks and oracle, "check" for the checks alone with what the answer
    prints, "oracle" for the oracle alone.
    """

    slug: str
    seed: int
    seconds: float
    mode: str = "judge"
    shuffled: bool = False


@dataclass(frozen=True)
class Ended:
    """How a child ended, seen from outside; `lost` says why there was none."""

    exit: int = 0
    signal: int = 0
    timed_out: bool = False
    lost: str = ""


def warm_up() -> None:
    """Pay once for what torch imports at first use.

    Without a single backward: a child that installs the simulated device must be the first to run one.
    """
    import torch._dynamo
    import torch.distributed
    import torch.distributed.fsdp
    import torch.func
    import torch.nn.parallel
    import torch.utils.data
    import torch.utils.flop_counter

    from grader.checks import devices, expect_close, expect_flat_cost

    torch.set_num_threads(1)
    devices.prepare()
    x = torch.randn(3, 4)
    torch.testing.assert_close(x, x.clone())
    expect_close(x * 2, x * 2, "x")
    expect_flat_cost(lambda n: lambda: x + n, "x")
    # The first compilation replaces a few of torch's own functions, which the guard must know.
    torch.compile(torch.nn.Linear(4, 2), backend="eager")(x)
    torch._dynamo.reset()
    repr(x)


class Engine:
    """Everything that a child inherits."""

    def __init__(self, exercises: tuple[Exercise, ...], *, confined: bool) -> None:
        self.suites: Suites = collected.collect(exercises)
        warm_up()
        self.guard = Guard(self.suites.modules)
        self.confined = confined

    def inventory(self) -> dict[str, Any]:
        """Every check that an answer is expected to pass, and what this machine lacks for it."""
        checks = {
            slug: [{"id": c.id, "title": c.title, "lacks": plugin.lacking(c.item)} for c in found]
            for slug, found in self.suites.checks.items()
        }
        return {"torch": torch.__version__, "checks": checks}

    def serve(self, sockets: list[int]) -> None:
        """Keep one worker alive per socket until the other side closes them all."""
        workers = {self._worker(fd): fd for fd in sockets}
        while workers:
            pid, status = os.wait()
            fd = workers.pop(pid, None)
            if fd is not None and status != 0:
                workers[self._worker(fd)] = fd

    def _worker(self, fd: int) -> int:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                Worker(self, socket.socket(fileno=fd)).run()
                status = 0
            finally:
                os._exit(status)
        return pid


class Worker:
    """Forks a child for each job that arrives on its socket."""

    def __init__(self, engine: Engine, channel: socket.socket) -> None:
        self.engine = engine
        self.channel = channel
        self.sandbox: sandbox.Sandbox = (
            sandbox.Confinement(hide=[paths.ROOT / "tests"]) if engine.confined else sandbox.Unconfined()
        )

    def run(self) -> None:
        while True:
            message, fds, _, _ = socket.recv_fds(self.channel, 65536, 2)
            if not message:
                return
            ended = self._one(Job(**json.loads(message)), *fds)
            self.channel.sendall(json.dumps(asdict(ended)).encode() + b"\n")

    def _one(self, job: Job, answer: int, results: int) -> Ended:
        try:
            pid = self.sandbox.fork(sandbox.Limits(), keep=(answer, results))
        except KataError as error:
            pid, trouble = -1, str(error)
        if pid == 0:
            try:
                Child(self.engine, job, results).run(answer)
            finally:
                os._exit(0)
        os.close(answer)
        os.close(results)
        if pid < 0:
            return Ended(lost=trouble)
        # The plugin's own alarm comes first: it can name the line where an answer hangs.
        return Ended(*self.sandbox.wait(pid, job.seconds + 2.0))


class Printed(io.TextIOBase):
    """Keeps the beginning of what is printed and forgets the rest, however much it is."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text[: MOST_MESSAGE - len(self.text)]
        return len(text)

    def take(self) -> str:
        """What was printed since it was last taken."""
        text, self.text = self.text, ""
        return text


class Child:
    """Judges one answer in a process of its own, and writes one JSON line per finding."""

    def __init__(self, engine: Engine, job: Job, results: int) -> None:
        self.engine = engine
        self.job = job
        self.exercise = load().exercise(job.slug)
        self.results = os.fdopen(results, "wb", buffering=0)
        # The path that the learner knows: feedback points there.
        root = Path.cwd() / "exercises"
        root.mkdir()
        self.judged = plugin.Judged(Answers(root), job.seed, job.seconds)
        self.printed = Printed()

    def run(self, answer: int) -> None:
        with os.fdopen(answer, "rb") as source:
            text = source.read()
        file = self.judged.answers.root / self.exercise.relative
        file.parent.mkdir(parents=True)
        file.write_bytes(text)
        checks = list(self.engine.suites.checks.get(self.job.slug, []))
        if self.job.shuffled:
            random.Random(self.job.seed).shuffle(checks)
        self.engine.suites.config.stash[plugin.JUDGED] = self.judged
        sys.breakpointhook = self._no_debugger
        if self.job.mode == "check":
            sys.stdout = sys.stderr = self.printed
        plugin.prepare([check.item for check in checks])
        if not self._imports():
            return
        if self.job.mode != "oracle":
            for check, reports in self._each(checks):
                self._tell_check(check, *reports)
        if self.job.mode != "check":
            self._oracle()
        self._tell(done=True)

    def _no_debugger(self, *_arguments: Any, **_options: Any) -> None:
        raise CheckFailure(
            f"breakpoint() was reached, and nobody is here to debug\n"
            f"  likely  debug with `pytest -s -k {self.job.slug}`, or take it out"
        )

    def _tell(self, **finding: Any) -> None:
        line = json.dumps(finding).encode() + b"\n"
        while line:
            line = line[self.results.write(line) :]

    def _imports(self) -> bool:
        try:
            self.judged.module(self.exercise)
        except feedback.DoesNotImport as broken:
            file = self.judged.answers.path(self.exercise)
            text = "\n".join(feedback.import_trouble(broken.cause, file))
            self._tell(broken=text[:MOST_MESSAGE], memory=isinstance(broken.cause, MemoryError))
            return False
        return self._untouched()

    def _untouched(self) -> bool:
        """Whether the judging machinery is still what it was; says so and stops where it is not."""
        name = self.engine.guard.broken()
        if name is not None:
            self._tell(tampered=f"replaces {name}")
            os._exit(0)
        return True

    def _each(self, checks: list[Check]) -> Iterator[tuple[Check, tuple[str, str, float]]]:
        started = time.perf_counter()
        for check, reports in collected.run(checks):
            seconds = time.perf_counter() - started
            yield check, (*_outcome(reports), seconds)
            self._untouched()
            started = time.perf_counter()

    def _tell_check(self, check: Check, outcome: str, message: str, seconds: float) -> None:
        printed = {"printed": self.printed.take()} if self.job.mode == "check" else {}
        self._tell(
            check=check.id,
            outcome=outcome,
            message=message[:MOST_MESSAGE],
            seconds=round(seconds, 4),
            **printed,
        )
        if outcome == "timeout":
            self._tell(stopped="timeout")
            os._exit(0)

    def _oracle(self) -> None:
        oracle: Any = collected.oracle_of(self.job.slug, self.engine.suites)
        name = f"{self.job.slug}::oracle"
        seeds.seed_globals(self.job.seed, name)
        try:
            module = self.judged.module(self.exercise)
            data = wire.encode(oracle(module, seeds.generator(self.job.seed, name)))
        except (Exception, SystemExit) as error:
            text = f"{type(error).__name__}: {error}"
            self._tell(oracle_error=text[:MOST_MESSAGE])
            return
        self._tell(oracle=data)


def _outcome(reports: list[pytest.TestReport]) -> tuple[str, str]:
    """One word for a check's reports, and its feedback."""
    for report in reports:
        verdict = getattr(report, "kata", None)
        if report.failed:
            return ("timeout" if getattr(report, "timed_out", False) else "failed"), str(report.longrepr)
        if verdict == "todo":
            return "todo", ""
        if verdict == "not_graded":
            return "not_graded", ""
        if report.outcome != "passed" or hasattr(report, "wasxfail"):
            return "failed", "the check was skipped"
    return "passed", ""


def main() -> None:
    settings = json.loads(sys.argv[1])
    catalog = load()
    exercises = tuple(catalog.exercise(slug) for slug in settings["slugs"])
    with os.fdopen(settings["control"], "w") as control:
        try:
            engine = Engine(exercises, confined=settings["confined"])
        except pytest.UsageError as error:
            json.dump({"fault": str(error)}, control)
            return
        json.dump(engine.inventory(), control)
    freeze()
    engine.serve(settings["sockets"])


if __name__ == "__main__":
    main()
