"""One worker as the roster knows it: what it was asked, and what it says that it can judge."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from grader.classroom.cluster.replies import Inventory


@dataclass(eq=False)
class Task:
    """What a worker was asked. `batch` holds the answers that go along, for whoever sent it."""

    batch: list[Any]
    then: Callable[["ClusterWorker", dict[str, Any]], None] | None


@dataclass(eq=False)
class ClusterWorker:
    """A worker's process. `checks` is what it says that it can judge; it does so once `ready`."""

    address: str
    jobs: int
    settings: str
    checks: Inventory | None = None
    ready: bool = False
    refused: bool = False
    tasks: dict[Any, Task] = field(default_factory=dict)

    @property
    def answers(self) -> int:
        """How many answers it has now."""
        return sum(len(task.batch) for task in self.tasks.values())

    def take_back(self) -> list[Any]:
        """Drop what it was asked; the answers that it had, to be judged again."""
        answers = [answer for task in self.tasks.values() for answer in task.batch]
        for future in self.tasks:
            future.release()
        self.tasks.clear()
        return answers
