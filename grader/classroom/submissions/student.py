"""One student's work: which file in it answers which exercise."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from grader.classroom.submissions import project_answer
from grader.classroom.submissions.decode import MAX_BYTES, MAX_NOTEBOOK, cells, text
from grader.classroom.submissions.file_kinds import (
    CLONE,
    FOREIGN,
    is_code,
    is_meant,
    is_shipped,
    is_shipped_inside,
    may_answer,
)
from grader.classroom.submissions.findings import Findings
from grader.classroom.submissions.generated import holds_generated
from grader.classroom.submissions.io import archives
from grader.classroom.submissions.io.folders import FILE, FOLDER, Folder, Refused, escaped, short, why
from grader.classroom.submissions.io.patience import in_time
from grader.classroom.submissions.names import Names, newest, own
from grader.classroom.submissions.platforms import TIMESTAMP
from grader.classroom.submissions.scopes import Scope, Scopes
from grader.classroom.submissions.unnamed import Unnamed
from grader.core.source_names import is_blank
from grader.course.catalog import Catalog, Section
from grader.course.exercise import STEPS, Exercise

_MAX_DEPTH = 6
_MAX_FOLDERS = 2000
_MAX_NESTED = 3
_MAX_ARCHIVES = 12
_MAX_READ = 256 << 20
"""Bytes of one student's answers and notebooks: each may be as large as it may, but not all of them."""
_MAX_UNNAMED = 16 << 20
"""Bytes of Python files that are called after no exercise."""


class Homework:
    """Gathers one student's answers, from as many places as there are: the first that has one counts."""

    def __init__(self, catalog: Catalog) -> None:
        self.found = Findings(catalog)
        self.times: dict[str, str] = {}
        self.refused: list[str] = []
        self.unknown: list[str] = []
        self.guessed: list[str] = []
        self._catalog = catalog
        self._scopes = Scopes(catalog)
        self.whole = self._scopes.whole
        self._sections = self._scopes.sections
        self.names = Names(catalog)
        self._limits = project_answer.limits(archives.ONE, catalog)
        self._folders = 0
        self._archives = 0
        self._left = _MAX_READ
        self._left_unnamed = _MAX_UNNAMED
        self._unnamed = Unnamed(catalog.exercises)

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Around all reading: what was not reached in time may have held any answer."""
        try:
            with in_time():
                yield
        except Refused as reason:
            self.refuse("the hand-in", reason)

    def finish(self) -> None:
        """Nothing more comes."""
        self.guessed += self._unnamed.settle(self.found)
        self.found.settle()

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

        def enter(name: str, scope: Scope) -> None:
            deeper = partial(self.read, prefix=f"{prefix}{name}/", depth=depth + 1, nested=nested)
            before = {*self.found.answers}
            self.enter(name, home, prefix + name, scope, deeper)
            new = self.found.answers.keys() - before
            answered = {e.assignment for e in self._catalog.exercises if e.slug in new}
            self._time(home, name, prefix, answered | ({name} & self._sections.keys()) if timed else ())

        for name, section in self._sections.items():
            if name in kinds:
                enter(name, Scope(section.exercises))
        is_clone = CLONE in kinds
        if is_clone:
            enter(CLONE, self.whole)
        rest = {
            name: kind
            for name, kind in kinds.items()
            if name not in self._sections and name != CLONE and name not in FOREIGN and is_meant(name)
        }
        for name in kinds:
            if name not in rest and kinds[name] == FILE and not name.startswith("."):
                self.found.leave(prefix + name, self.whole)
        if is_clone or not prefix:  # what comes with every clone of ours is no news
            rest = {name: kind for name, kind in rest.items() if not is_shipped(name)}
        self._loose(rest, home, prefix, depth, nested)
        for name, kind in rest.items():
            if self._is_ours(name, kind) or (kind == FILE and is_shipped_inside(prefix + name)):
                continue
            if is_clone and kind != FILE:
                self.unknown.append(short(prefix + name))
            elif kind == FILE:
                self.other(name, home, prefix + name)
            elif kind != FOLDER:
                self.refuse(prefix + name, Refused(f"is {kind}"))
            elif depth < _MAX_DEPTH:
                enter(
                    name, self._scopes.steps(prefix) if name == STEPS else self._scopes.meant(prefix + name)
                )
            else:
                self.refuse(prefix + name, Refused("lies too deep"))

    def _loose(self, rest: Mapping[str, str], home: Folder, prefix: str, depth: int, nested: int) -> None:
        """Answers first, then notebooks, then archives; the newest of each first."""
        for name in sorted(rest, key=lambda name: (rest[name] == FILE, *self.names.rank(name))):
            if exercise := self.names.answered(name, rest[name]):
                self.answer(name, home, prefix + name, exercise, rest[name])
        files = [name for name in sorted(rest, key=newest) if rest[name] != FOLDER]
        for name in files:
            if archives.is_notebook(name):
                self.notebook(name, home, prefix + name)
        for name in files:
            if archives.is_archive(name):
                self.archive(name, home, prefix + name, depth, nested)

    def _is_ours(self, name: str, kind: str) -> bool:
        if self.names.answered(name, kind) or name == TIMESTAMP:
            return True
        return kind != FOLDER and (archives.is_notebook(name) or archives.is_archive(name))

    def answer(self, name: str, home: Folder, where: str, exercise: Exercise, kind: str = FILE) -> None:
        """Read one file as the answer to an exercise, or a folder as the answer to a project."""

        def read() -> tuple[bytes, str]:
            if not exercise.is_project:
                content, oddity = text(self._content(home, name, MAX_BYTES))
                if is_blank(content.decode()) and not exercise.is_start(content):
                    raise Refused("holds no code")
                return content, oddity
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
        if self.found.has(exercise):
            self.refused.append(f"{short(where)} is a second answer")
            return
        try:
            content, oddity = read()
            self.found.take(exercise, content)
            if told := ", ".join(filter(None, [taken, oddity])):
                self.guessed.append(f"{short(where)} {told}")
        except (Refused, OSError) as reason:
            self.refused.append(f"{short(where)} {why(reason)}")
            self.found.fail(exercise, f"{escaped(short(where))} {why(reason)}")

    def notebook(self, name: str, home: Folder, where: str) -> None:
        """Read the answers that a notebook's cells hold."""
        scope = self._scopes.meant(where)
        try:
            content = self._content(home, name, MAX_NOTEBOOK)
            if holds_generated(content):
                self._keep(name, where)
                return
            meant = Section("", "", scope.exercises)
            held = cells(content, self._catalog if scope.is_whole else Catalog((meant,)), self._catalog)
        except (Refused, OSError) as reason:
            self.refuse(where, reason)
            return
        if held.why:
            self.refused.append(f"{short(where)} {held.why}")
            doubtful = Scope(held.doubtful) if held.doubtful else scope
            self.found.lose(f"{escaped(short(where))} {held.why}", doubtful)
        if not held.answers:
            self._leave(where)
        self.guessed += (f"{short(where)}: {note}" for note in held.notes)
        for slug, answer in held.answers.items():
            exercise = self._catalog.exercise(slug)
            if self.found.has(exercise) and not exercise.is_start(answer):
                self.refused.append(f"{short(where)} holds a second answer to {slug}")
                continue
            try:
                self.found.take(exercise, text(answer)[0])
            except Refused as reason:
                self.refuse(where, reason, Scope((exercise,)))

    def _keep(self, name: str, where: str) -> None:
        """What formgrader shows of an assignment: verdicts of before are on what was handed in then."""
        shown = [e for e in self._catalog.exercises if name == f"{e.assignment}.ipynb"]
        for exercise in shown:
            self.found.keep(exercise)
        if not shown:
            self._leave(where)

    def other(self, name: str, home: Folder, where: str) -> None:
        """What is no answer by its name; what is Python may be one nevertheless."""
        try:
            if not is_code(name):
                self._leave(where)
            elif self._left_unnamed <= 0:
                raise Refused("comes after too much else; hand in your answers alone")
            else:
                content = home.content(name, MAX_BYTES)
                self._left_unnamed -= len(content)
                if not self._unnamed.add(where, content, self._scopes.meant(where)):
                    self._leave(where)
        except (Refused, OSError) as reason:
            self.refuse(where, reason)

    def _leave(self, where: str) -> None:
        """A file in which there is no answer."""
        self.unknown.append(short(where))
        for scope in dict.fromkeys((self._scopes.meant(where), self.whole)):
            self.found.leave(where, scope)

    def _content(self, home: Folder, name: str, most: int) -> bytes:
        if self._left <= 0:
            raise Refused("comes after too much else; hand in your answers alone")
        content = home.content(name, most)
        self._left -= len(content)
        return content

    def archive(self, name: str, home: Folder, where: str, depth: int = 0, nested: int = 0) -> None:
        """Read an archive as the folder that it was."""
        try:
            self._archives += 1
            if nested >= _MAX_NESTED:
                raise Refused("is an archive in an archive in an archive")
            if self._archives > _MAX_ARCHIVES:
                raise Refused("is one archive too many; hand in your answers in one")
            with home.stream(name) as stream, archives.opened(stream, self._limits) as content:
                self.left_out(content, where)
                exercise = self.names.project(archives.stem(own(name)))
                before = self.found.heard
                if exercise and self._is_project(content):
                    self._answer(exercise, where, lambda: (self._files_in(content, where), ""), "")
                else:
                    self.read(content, f"{where}/", depth, nested + 1)
                if self.found.heard == before:
                    self._leave(where)
        except (Refused, OSError) as reason:
            self.refuse(where, reason)

    def left_out(self, content: archives.Unpacked, where: str) -> None:
        """Tell of an archive's entries that are not read; their names tell what they may have held."""
        self.refused += [f"{short(where)}: {oddity}" for oddity in content.oddities]
        for name, reason in content.left_out:
            own = name[-archives.MAX_PART :].rpartition("/")[2]
            exercise = self.names.exercise(own)
            scope = Scope((exercise,)) if exercise else self._scopes.meant(where)
            if exercise or may_answer(own):
                self.found.lose(f"{escaped(short(where))}: {escaped(short(name))} {reason}", scope)
            self.found.leave(f"{where}/{name}", self.whole)

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
        scope: Scope,
        read: Callable[[Folder], None],
    ) -> None:
        """Read a folder; where that is refused, so are the exercises in it."""
        try:
            with parent.entered(name) as folder:
                read(folder)
        except (Refused, OSError) as reason:
            self.refuse(where, reason, scope)

    def refuse(self, where: str, reason: Refused | OSError, scope: Scope | None = None) -> None:
        """Note what was not read, and which exercises may have been in it; else those that its path names."""
        self.refused.append(f"{short(where)} {why(reason)}")
        self.found.lose(f"{escaped(short(where))} {why(reason)}", scope or self._scopes.meant(where))
        self.found.leave(where, self.whole)

    def _time(self, home: Folder, name: str, prefix: str, sections: Iterable[str]) -> None:
        """When nbgrader received the folder `name`, for the assignments that are answered in it."""
        for section in sections:
            try:
                with home.entered(name) as folder:
                    if folder.kinds().get(TIMESTAMP) != FILE:
                        return
                    stamp = folder.content(TIMESTAMP, 200).decode("utf-8", "replace").strip()
            except (Refused, OSError) as reason:
                self.refused.append(f"{short(f'{prefix}{name}/{TIMESTAMP}')} {why(reason)}")
                return
            if stamp:
                self.times[section] = max(stamp, self.times.get(section, ""))
