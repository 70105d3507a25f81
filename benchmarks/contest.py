"""What contestants need and how they are compared: for `throughput.py` and `assignment.py`."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
BUSY = 0.5
"""Of the machine's cores, how many may be busy beforehand."""


@dataclass
class Spent:
    """What one contestant has needed so far."""

    submissions: int = 0
    seconds: float = 0.0
    laps: list[float] = field(default_factory=list)

    @contextmanager
    def on(self, submissions: int) -> Iterator[None]:
        started = time.perf_counter()
        yield
        seconds = time.perf_counter() - started
        self.laps.append(seconds / submissions)
        self.seconds += seconds
        self.submissions += submissions

    @property
    def each(self) -> float:
        return self.seconds / self.submissions


def run(
    command: Sequence[str | Path], folder: Path = ROOT, *, may_fail: bool = False, **environment: str
) -> None:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode and not may_fail:
        sys.exit(f"{' '.join(map(str, command[:4]))} failed:\n{done.stdout[-3000:]}")


def show(contestants: Sequence[tuple[str, Spent]]) -> None:
    """A line for each: seconds for a submission, how many times the first one's, and each round's."""
    print(f"{'seconds for each submission':42}  mean   ratio   rounds")
    for name, spent in contestants:
        laps = " ".join(f"{lap:.2f}" for lap in spent.laps)
        print(f"{name:42}  {spent.each:5.2f}  {spent.each / contestants[0][1].each:5.1f}   {laps}")


def warn_of_load() -> None:
    load_before, cores = os.getloadavg()[0], os.cpu_count() or 1
    print(f"load average {load_before:.1f} on {cores} cores")
    if load_before > BUSY * cores:
        print("warning: the machine is busy; of wall-clock times, at most the ratios mean anything now")
    print()
