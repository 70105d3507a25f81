"""The exercises that something may have been meant for, by the folder that it lies in and by its name."""

from dataclasses import dataclass

from grader.classroom.submissions.platforms import original
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise


@dataclass(frozen=True, eq=False)
class Scope:
    """Some exercises; `is_whole` where nothing tells which."""

    exercises: tuple[Exercise, ...]
    is_whole: bool = False


class Scopes:
    """The assignments and sections of a catalog, as paths in a hand-in name them."""

    def __init__(self, catalog: Catalog) -> None:
        self.sections = {one.name: one for one in (*catalog.assignments, *catalog.sections)}
        self.whole = Scope(catalog.exercises, is_whole=True)
        self._known: dict[frozenset[str], Scope] = {frozenset(): self.whole}

    def meant(self, where: str) -> Scope:
        """What a path names: the exercises of sections or of their steps, or else all."""
        parts = {original(part)[0].partition(".")[0] for part in where.split("/")}
        named = frozenset(name for name in self.sections if name in parts)
        if named not in self._known:
            exercises = (e for name in sorted(named) for e in self.sections[name].exercises)
            self._known[named] = Scope(tuple(dict.fromkeys(exercises)))
        return self._known[named]

    def steps(self, folder: str) -> Scope:
        """The steps of the section whose folder that is."""
        section = self.sections.get(folder.rstrip("/").rpartition("/")[2])
        return Scope(tuple(e for e in section.exercises if e.is_step)) if section else self.whole
