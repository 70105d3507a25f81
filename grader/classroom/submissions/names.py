"""Which exercise the name of a file or folder means, in what a student handed in."""

from collections.abc import Mapping

from grader.classroom.submissions.io.folders import FILE, FOLDER, LINK
from grader.classroom.submissions.likeness import meant
from grader.classroom.submissions.platforms import of_file, original
from grader.course import project
from grader.course.catalog import Catalog, unnumbered
from grader.course.exercise import Exercise


class Names:
    """What names mean in a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._files = {exercise.name: exercise for exercise in catalog.exercises}
        self._projects = [exercise for exercise in catalog.exercises if exercise.is_project]

    def exact(self, name: str) -> Exercise | None:
        """The exercise whose file's name this is, or once was, whatever a platform added."""
        plain = (unnumbered(name), unnumbered(original(own(name))[0]))
        return next((self._files[one] for one in plain if one in self._files), None)

    def exercise(self, name: str) -> Exercise | None:
        """The exercise that a file answers by its name, also if a platform or a person has changed that."""
        return self.exact(name) or meant(own(name), self._catalog)

    def project(self, name: str) -> Exercise | None:
        """The project that a folder answers by its name."""
        found = meant(f"{name}.py", self._catalog)
        return found if found and found.is_project else None

    def answered(self, name: str, kind: str) -> Exercise | None:
        """The exercise that a file answers, or a folder if that is a project's."""
        return (self.project(name) if kind in (FOLDER, LINK) else None) or self.exercise(name)

    def rank(self, name: str) -> tuple[bool, tuple[int, int, str]]:
        """Files by their names come before those that only mean one; the newest first."""
        return self.exact(name) is None, newest(name)

    def spilt(self, kinds: Mapping[str, str]) -> Exercise | None:
        """The only project whose files all lie here by themselves, where nothing else is answered."""
        held = {name for name, kind in kinds.items() if kind == FILE}
        fitting = [e for e in self._projects if (own := _modules(e)) and own <= held]
        if len(fitting) != 1 or any(self.answered(name, kind) for name, kind in kinds.items()):
            return None
        return fitting[0]


def own(name: str) -> str:
    """A file's name as the student gave it."""
    known = of_file(name)
    return known.own if known else name


def newest(name: str) -> tuple[int, int, str]:
    """By this, of files that a platform numbered, the newest comes first."""
    known = of_file(name)
    return (-known.upload if known else 0, -original(own(name))[1], name)


def _modules(exercise: Exercise) -> set[str]:
    """What lies at the top of a project as it is handed out, but for what every package has."""
    start = exercise.place("exercises")
    top = (file for file in project.files(start) if file.parent == start and file.suffix == ".py")
    return {file.name for file in top} - {project.START}
