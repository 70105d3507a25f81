"""One student's work: which file in it answers which exercise."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from grader.course import sources
from grader.course.catalog import Catalog
from grader.course.exercise import STEPS, Exercise
from grader.course.rows import SECTION, STEPS_FILE
from grader.submissions import project_answer
from grader.submissions.decode import MAX_BYTES, MAX_NOTEBOOK, cells, is_generated, text
from grader.submissions.io import archives
from grader.submissions.io.folders import FILE, FOLDER, Folder, Refused, escaped, short, why
from grader.submissions.names import Names, newest, own
from grader.submissions.platforms import TIMESTAMP, original

_MAX_DEPTH = 6
_MAX_FOLDERS = 2000
_MAX_NESTED = 3
_MAX_ARCHIVES = 12
_MAX_READ = 256 << 20
"""Bytes of one student's answers and notebooks: each may be as large as it may, but not all of them."""
CLONE = "exercises"
"""A student may hand in a whole clone; the answers then lie in this folder of it."""
_QUIET = frozenset({"__pycache__", "__init__.py", SECTION, STEPS_FILE})
FOREIGN = frozenset({"__MACOSX", "__pycache__", "venv", "node_modules"})


class Homework:
    """Gathers one student's answers, from as many places as there are: the first that has one counts."""

    def __init__(self, catalog: Catalog) -> None:
        self.answers: dict[str, bytes] = {}
        self.problems: dict[str, str] = {}
        self.times: dict[str, str] = {}
        self.refused: list[str] = []
        self.unknown: list[str] = []
        self.guessed: list[str] = []
        self.kept: set[str] = set()
        self._catalog = catalog
        self._sections = {one.name: one for one in (*catalog.assignments, *catalog.sections)}
        self.names = Names(catalog)
        self._limits = project_answer.limits(archives.ONE, catalog)
        self._folders = 0
        self._archives = 0
        self._left = _MAX_READ
        self._starts: dict[str, bytes] = {}
        self._lost: dict[str, str] = {}

    def finish(self) -> None:
        """Nothing more comes: starts that nobody changed are answers where there is no other.

        What was lost in a folder or archive, and found nowhere else, is a problem.
        """
        for slug, start in self._starts.items():
            if slug not in self.problems and slug not in self._lost:
                self.answers.setdefault(slug, start)
        for slug, reason in self._lost.items():
            if slug not in self.answers:
                self.problems.setdefault(slug, reason)
        self.kept -= self.answers.keys() | self.problems.keys()

    def read(
        self, home: Folder, prefix: str = "", depth: int = 0, nested: int = 0, timed: bool = False
    ) -> None:
        """Everything in a folder: sections and their steps, also in a clone, loose files, folders, archives.

        Args:
            home: the folder; sections are folders of it, as in our own tree.
            prefix: where it lies, as it is told to people.
            depth: how many folders deep that is.
            nested: in how many archives it lies.
            timed: whether nbgrader put the folders in it here, with the time of each.
        """
        self._folders += 1
        if self._folders > _MAX_FOLDERS:
            raise Refused("lies behind too many folders")
        kinds = home.kinds()
        if exercise := self.names.spilt(kinds):
            where, taken = prefix.rstrip("/") or "all files", f"taken for {exercise.name}"
            self._answer(exercise, where, lambda: (self._files_in(home, where), ""), taken)
            return

        def enter(name: str, exercises: tuple[Exercise, ...]) -> None:
            deeper = partial(self.read, prefix=f"{prefix}{name}/", depth=depth + 1, nested=nested)
            before = {*self.answers}
            self.enter(name, home, prefix + name, exercises, deeper)
            new = self.answers.keys() - before
            answered = {e.assignment for e in self._catalog.exercises if e.slug in new}
            self._time(home, name, prefix, answered | ({name} & self._sections.keys()) if timed else ())

        for name, section in self._sections.items():
            if name in kinds:
                enter(name, section.exercises)
        is_clone = CLONE in kinds
        if is_clone:
            enter(CLONE, self._catalog.exercises)
        rest = {
            name: kind
            for name, kind in kinds.items()
            if name not in self._sections and name != CLONE and not quiet(name) and name not in FOREIGN
        }
        if is_clone or not prefix:  # what comes with every clone of ours is no news
            rest = {name: kind for name, kind in rest.items() if not _is_shipped(name)}
        self._loose(rest, home, prefix, depth, nested, is_clone)
        for name, kind in rest.items():
            if kind == FOLDER and not is_clone and depth < _MAX_DEPTH and not self.names.answered(name, kind):
                enter(name, self._steps_in(prefix) if name == STEPS else ())
            elif not self._is_ours(name, kind, is_clone):
                self.unknown.append(short(prefix + name))

    def _steps_in(self, prefix: str) -> tuple[Exercise, ...]:
        """The steps of the section whose folder that is."""
        section = self._sections.get(prefix.rstrip("/").rpartition("/")[2])
        return tuple(e for e in section.exercises if e.is_step) if section else ()

    def _loose(
        self, rest: Mapping[str, str], home: Folder, prefix: str, depth: int, nested: int, is_clone: bool
    ) -> None:
        """Answers first, then notebooks, then archives; the newest of each first."""
        for name in sorted(rest, key=lambda name: (rest[name] == FILE, *self.names.rank(name))):
            if exercise := self.names.answered(name, rest[name]):
                self.answer(name, home, prefix + name, exercise, rest[name])
        if is_clone:
            return
        files = [name for name in sorted(rest, key=newest) if rest[name] != FOLDER]
        for name in files:
            if name.endswith(".ipynb"):
                self.notebook(name, home, prefix + name)
        for name in files:
            if archives.is_archive(name):
                self.archive(name, home, prefix + name, depth, nested)

    def _is_ours(self, name: str, kind: str, is_clone: bool) -> bool:
        if self.names.answered(name, kind) or name == TIMESTAMP:
            return True
        return kind != FOLDER and not is_clone and (name.endswith(".ipynb") or archives.is_archive(name))

    def answer(self, name: str, home: Folder, where: str, exercise: Exercise, kind: str = FILE) -> None:
        """Read one file as the answer to an exercise, or a folder as the answer to a project."""

        def read() -> tuple[bytes, str]:
            if not exercise.is_project:
                return text(self._content(home, name, MAX_BYTES))
            if kind == FILE:
                raise Refused(f"is a file; hand in the folder {exercise.name} with all of its files")
            with home.entered(name) as folder:
                return self._files_in(folder, where), ""

        self._answer(exercise, where, read, "" if self.names.exact(name) else f"taken for {exercise.name}")

    def _files_in(self, folder: Folder, where: str) -> bytes:
        left_out: list[str] = []
        content = project_answer.read(folder, self._content, left_out)
        self.refused += [short(f"{where}/{one}") for one in left_out]
        return content

    def _answer(
        self, exercise: Exercise, where: str, read: Callable[[], tuple[bytes, str]], taken: str
    ) -> None:
        if exercise.slug in self.answers or exercise.slug in self.problems:
            self.refused.append(f"{short(where)} is a second answer")
            return
        try:
            content, oddity = read()
            self._take(exercise, content)
            if told := ", ".join(filter(None, [taken, oddity])):
                self.guessed.append(f"{short(where)} {told}")
        except (Refused, OSError) as reason:
            self.refuse(where, reason, ())
            self.problems[exercise.slug] = f"{escaped(short(where))} {why(reason)}"

    def notebook(self, name: str, home: Folder, where: str) -> None:
        """Read the answers that a notebook's cells hold."""
        try:
            content = self._content(home, name, MAX_NOTEBOOK)
            if is_generated(content):
                own = (e.slug for e in self._catalog.exercises if name == f"{e.assignment}.ipynb")
                self.kept.update(own)
                return
            found = cells(content, self._meant(where))
        except (Refused, OSError) as reason:
            self.refuse(where, reason, ())
            return
        if not found:
            self.unknown.append(short(where))
        for slug, answer in found.items():
            exercise = self._catalog.exercise(slug)
            if exercise.is_start(answer):
                self._starts.setdefault(slug, answer)
            elif slug in self.answers or slug in self.problems:
                self.refused.append(f"{short(where)} holds a second answer to {slug}")
            else:
                try:
                    self.answers[slug] = text(answer)[0]
                except Refused as reason:
                    self.refuse(where, reason, (exercise,))

    def _take(self, exercise: Exercise, content: bytes) -> None:
        """An answer; but where all of it is the start, one that is found later counts."""
        kept = self._starts if exercise.is_start(content) else self.answers
        kept.setdefault(exercise.slug, content)

    def _content(self, home: Folder, name: str, most: int) -> bytes:
        if self._left <= 0:
            raise Refused("comes after too much else; hand in your answers alone")
        content = home.content(name, most)
        self._left -= len(content)
        return content

    def _meant(self, where: str) -> Catalog:
        """The section or its steps, which the path of a notebook names, or everything."""
        parts = {original(part)[0].removesuffix(".ipynb") for part in where.split("/")}
        sections = tuple(section for name, section in self._sections.items() if name in parts)
        return Catalog(sections) if sections else self._catalog

    def archive(self, name: str, home: Folder, where: str, depth: int = 0, nested: int = 0) -> None:
        """Read an archive as the folder that it was."""
        try:
            self._archives += 1
            if nested >= _MAX_NESTED:
                raise Refused("is an archive in an archive in an archive")
            if self._archives > _MAX_ARCHIVES:
                raise Refused("is one archive too many; hand in your answers in one")
            with home.stream(name) as stream, archives.opened(stream, self._limits) as content:
                self.refused += [f"{short(where)}: {oddity}" for oddity in content.oddities]
                exercise = self.names.project(archives.stem(own(name)))
                if exercise and self._is_project(content):
                    self._answer(exercise, where, lambda: (self._files_in(content, where), ""), "")
                else:
                    self.read(content, f"{where}/", depth, nested + 1)
        except (Refused, OSError) as reason:
            self.refuse(where, reason, self._catalog.exercises)

    def _is_project(self, content: Folder) -> bool:
        """Whether a project's files lie here, and not the folder that holds them."""
        kinds = content.kinds()
        is_there = any(
            name in self._sections or self.names.answered(name, kind) for name, kind in kinds.items()
        )
        return not is_there and any(name.endswith(".py") for name in kinds)

    def enter(
        self,
        name: str,
        parent: Folder,
        where: str,
        exercises: Iterable[Exercise],
        read: Callable[[Folder], None],
    ) -> None:
        """Read a folder; where that is refused, so are the exercises in it."""
        try:
            with parent.entered(name) as folder:
                read(folder)
        except (Refused, OSError) as reason:
            self.refuse(where, reason, exercises)

    def refuse(self, where: str, reason: Refused | OSError, exercises: Iterable[Exercise]) -> None:
        """Note what was not read, and which exercises may have been in it."""
        self.refused.append(f"{short(where)} {why(reason)}")
        for exercise in exercises:
            self._lost.setdefault(exercise.slug, f"{escaped(short(where))} {why(reason)}")

    def _time(self, home: Folder, name: str, prefix: str, sections: Iterable[str]) -> None:
        """When nbgrader received the folder `name`, for the assignments that are answered in it."""
        for section in sections:
            try:
                with home.entered(name) as folder:
                    if folder.kinds().get(TIMESTAMP) != FILE:
                        return
                    stamp = folder.content(TIMESTAMP, 200).decode("utf-8", "replace").strip()
            except (Refused, OSError) as reason:
                self.refuse(f"{prefix}{name}/{TIMESTAMP}", reason, ())
                return
            if stamp:
                self.times[section] = max(stamp, self.times.get(section, ""))


def _is_shipped(name: str) -> bool:
    return any(place.exists() for place in sources.each(name))


def quiet(name: str) -> bool:
    """Names that come along without anybody meaning anything by it."""
    return name.startswith((".", "README", "LICENSE")) or name in _QUIET
