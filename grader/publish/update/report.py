"""What an update has done, in a few lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.publish.update.backup import Backup
from grader.publish.update.outcomes import MergedAnswer


@dataclass
class Report:
    """What came in from `source`, and what became of what was there.

    `news` counts exercises that are new, `starts` those whose statement or start has changed. `replaced` are
    other files of the learner's that gave way to the course's.
    """

    source: str
    backup: Backup
    answers: Sequence[MergedAnswer] = ()
    news: int = 0
    starts: int = 0
    replaced: Sequence[str] = ()
    needs_setup: bool = False
    is_new: bool = True

    def lines(self) -> Iterator[str]:
        """For printing."""
        if not self.is_new:
            yield f"{self.source} holds nothing new"
            return
        news = _count(self.news, "new exercise")
        yield f"{self.source}: {news}, {self.starts} with a new statement or start"
        stay = [one for one in self.answers if one.now]
        restated, moved = sum(one.is_restated for one in stay), sum(one.is_moved for one in stay)
        under = f", {restated} of them under a new statement" if restated else ""
        elsewhere = f", {moved} in a file with another name" if moved else ""
        yield f"{_count(len(stay), 'answer')} of yours stayed{under}{elsewhere}"
        for one in self.answers:
            if one.beside:
                new = ", ".join(sorted(one.beside))
                yield f"{one.slug}: the new start has what yours lacks ({one.why}); it is beside yours: {new}"
            elif one.now is None:
                kept = self.backup.shown(one.before.place)
                yield f"{one.slug} is no part of the course any more; your answer is in {kept}"
        for path in self.replaced:
            yield f"{path} is the course's again; yours is in {self.backup.shown(path)}"
        if self.backup:
            yield f"what was there before is in {self.backup.shown()}"
        if self.needs_setup:
            yield "what the course needs has changed: `make learn`, or `pip install -e .`, once"
        yield "next: kata     (judges your answers anew, once)"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
