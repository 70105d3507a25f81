"""The catalog: all steps and exercises, in their sections and in the assignments of a course."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from grader.core.errors import KataError
from grader.course import course_file, paths, sources
from grader.course.course_file import near
from grader.course.exercise import STEPS, Exercise


@dataclass(frozen=True)
class Section:
    """A folder of exercises, in their order: the steps come first. Or an assignment, which may be due."""

    name: str
    title: str
    exercises: tuple[Exercise, ...]
    due: datetime | None = None

    @property
    def short(self) -> str:
        """Its name, as a person may type it: ``e01``."""
        return self.name.split("_")[0]

    def is_called(self, name: str) -> bool:
        """Whether a person means it: ``e01_tensors`` or ``e01``."""
        return name in (self.name, self.short)

    @property
    def assignments(self) -> "tuple[Section, ...]":
        """The section as a gradebook has it: an assignment of its steps, and one of what is set as one."""
        found: dict[str, list[Exercise]] = {}
        for exercise in self.exercises:
            found.setdefault(exercise.assignment, []).append(exercise)
        return tuple(
            Section(name, self._title(held[0]), tuple(held), self.due) for name, held in found.items()
        )

    def _title(self, first: Exercise) -> str:
        return f"{self.title}: first steps" if first.is_step and not first.set_in else self.title


@dataclass(frozen=True)
class Catalog:
    """All sections, in the order of their names, and the assignments that the course makes of them."""

    sections: tuple[Section, ...]
    course: tuple[Section, ...] = ()

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(e for section in self.sections for e in section.exercises)

    @property
    def assignments(self) -> tuple[Section, ...]:
        """What a gradebook has instead of sections: those of the course, then what it sets nowhere."""
        ours = {one.name for one in self.course}
        rest = (one for section in self.sections for one in section.assignments if one.name not in ours)
        return (*self.course, *rest)

    @property
    def set_exercises(self) -> tuple[Exercise, ...]:
        """What the course sets: the exercises of its assignments; without any, all."""
        return tuple(e for e in self.exercises if e.set_in) if self.course else self.exercises

    def assignment(self, name: str) -> Section:
        """The course's assignment of this name; raises KataError where there is none."""
        if found := next((one for one in self.course if one.name == name), None):
            return found
        names = [one.name for one in self.course]
        if not names:
            raise KataError(
                f"no assignment {name!r}: write it into course.toml, or name exercises with --only"
            )
        raise KataError(
            f"no assignment is called {name!r}{near(name, names)}; course.toml has {', '.join(names)}"
        )

    def exercise(self, slug: str) -> Exercise:
        """The exercise of just this slug; raises KataError where there is none."""
        for exercise in self.exercises:
            if exercise.slug == slug:
                return exercise
        raise self._unknown(slug)

    def find(self, name: str) -> Exercise:
        """The exercise that a person means: by its slug, its number, a file of it, or how these begin.

        ``merge``, ``ex20``, ``e01/ex12``, ``exercises/e01_tensors/merge_heads.py``; older files' names

        Raises:
            KataError: it may be several, or none.
        """
        found = self._meant(name)
        if len(found) == 1:
            return found[0]
        if not found and any(s.is_called(_parts(name)[-1]) for s in self.sections):
            raise KataError(f"{name!r} is a section; name one of its exercises, as `kata status` lists them")
        if not found:
            raise self._unknown(name)
        more = " and others" if len(found) > _MANY else ""
        raise KataError(
            f"{name!r} may be {', '.join(e.short for e in found[:_MANY])}{more}; name one of them"
        )

    def section(self, exercise: Exercise) -> Section:
        """The section that holds `exercise`."""
        return next(s for s in self.sections if s.name == exercise.section)

    def section_called(self, name: str) -> Section | None:
        """The section that a person means by this name, if one does."""
        return next((s for s in self.sections if s.is_called(name)), None)

    def select(self, names: list[str] | None) -> tuple[Exercise, ...]:
        """The exercises meant by names: all of a section (``e01``), its steps (``e01/steps``), single ones.

        Without names, all of them.
        """
        chosen = {exercise for name in names or () for exercise in self._named(name)}
        return tuple(e for e in self.exercises if e in chosen) if names else self.exercises

    def _named(self, name: str) -> tuple[Exercise, ...]:
        *folders, last = _parts(name)
        called = folders[-1] if last == STEPS and folders else last
        section = self.section_called(called)
        if section is None:
            return (self.find(name),)
        return tuple(e for e in section.exercises if e.is_step or last != STEPS)

    def _meant(self, name: str) -> list[Exercise]:
        *folders, last = _parts(name)
        if inside := [e for e in self.exercises if e.is_project and e.slug in map(unnumbered, folders)]:
            return inside
        if STEPS in folders:
            folders.remove(STEPS)
        name = last.removesuffix(".py")
        slug = unnumbered(name.removeprefix("test_")) or name
        number = re.fullmatch(r"(ex|s)(\d+)", name)
        those = [e for s in self.sections if not folders or s.is_called(folders[-1]) for e in s.exercises]
        return (
            [e for e in those if e.slug in (name, slug)]
            or [e for e in those if number and (number[1] == "s", int(number[2])) == (e.is_step, e.order)]
            or [e for e in those if slug and e.slug.startswith(slug)]
        )

    def of_stem(self, stem: str) -> Exercise | None:
        """The exercise a file name belongs to: its slug, or an older one with a number before it."""
        return next((e for e in self.exercises if e.slug in (stem, unnumbered(stem))), None)

    def _unknown(self, name: str) -> KataError:
        name = name[:_MOST_LETTERS]
        slug = unnumbered(_parts(name)[-1].removesuffix(".py").removeprefix("test_"))
        known = [*(e.slug for e in self.exercises), *(s.name for s in self.sections)]
        return KataError(f"no exercise is called {name!r}{near(slug, known)}; `kata status` lists them all")


_MANY = 10
"""So many exercises are named where one could be any of them."""
_MOST_LETTERS = 200
"""Of a name that is nobody's, as it is told."""


def unnumbered(stem: str) -> str:
    """The slug in a file's name: ``merge_heads`` of an older ``merge_heads``, and of itself."""
    return re.sub(r"^(ex|s)\d+_", "", stem)


def _parts(name: str) -> list[str]:
    """A name or path in parts, also one with a slash at its end."""
    return re.split(r"[/\\]+", name.rstrip("/\\"))


@cache
def load() -> Catalog:
    """The catalog of this course, with its assignments, and the points that it gives.

    Raises:
        KataError: there is none here, or it cannot be read.
    """
    from grader.course.assignments import arranged
    from grader.course.rows import joined, read

    found, course = joined(map(read, sources.each("exercises"))), course_file.load()
    if not found.sections and not (paths.ROOT / paths.FILE).exists():
        raise KataError(
            f"no course here: neither {paths.ROOT} nor a folder above it holds exercises; "
            "`kata init DIR` makes one"
        )
    weighed = tuple(replace(s, exercises=_weighed(s.exercises, course.policy.steps)) for s in found.sections)
    return arranged(Catalog(weighed), course)


def _weighed(exercises: tuple[Exercise, ...], steps: float) -> tuple[Exercise, ...]:
    return tuple(replace(e, points=steps) if e.is_step else e for e in exercises)
