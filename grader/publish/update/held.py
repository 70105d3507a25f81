"""The answers that a course's folder holds, by slug, whatever their files are called there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.core.errors import KataError
from grader.core.packed import packed
from grader.core.toml import tomllib
from grader.course import project
from grader.course.catalog import unnumbered
from grader.course.exercise import digest
from grader.course.rows import SECTION, STEPS_FILE

Files = Mapping[str, bytes]
"""What an answer is made of, by path in the course's folder."""


@dataclass(frozen=True)
class LocalAnswer:
    """One answer: where it lies in the course's folder `root`, and the digest of its start."""

    root: Path
    slug: str
    place: str
    start: str
    is_project: bool

    @property
    def statement(self) -> str:
        """The file with the statement."""
        return f"{self.place}/{project.START}" if self.is_project else self.place

    def holds(self, path: str) -> bool:
        """Whether a file belongs to the answer."""
        if not self.is_project:
            return path == self.place
        inside = path.removeprefix(f"{self.place}/")
        return inside != path and project.is_part(inside)

    def files(self) -> Files:
        """Its files as they are."""
        if not self.is_project:
            return {self.place: (self.root / self.place).read_bytes()}
        found = project.files(self.root / self.place)
        paths = ((file.relative_to(self.root).as_posix(), file) for file in found)
        return {path: file.read_bytes() for path, file in paths if self.holds(path)}

    def is_start(self, files: Files) -> bool:
        """Whether nobody wrote anything yet."""
        if not self.is_project:
            return digest(files[self.place]) == self.start
        inside = {path.removeprefix(f"{self.place}/"): content for path, content in files.items()}
        return digest(project.plain(packed(inside))) == self.start


def held(root: Path) -> dict[str, LocalAnswer]:
    """The answers in a course's folder, section by section; without those whose files are not there."""
    found = {}
    sources = (file for name in (SECTION, f"*/{STEPS_FILE}") for file in root.glob(f"exercises/e*/{name}"))
    for source in sorted(sources):
        try:
            rows = tomllib.loads(source.read_text("utf-8")).get("exercise", {})
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
            raise KataError(f"{source} is not valid TOML: {broken}") from None
        places = {
            unnumbered(place.stem): place for place in sorted(source.parent.iterdir()) if _may_be(place)
        }
        for slug, row in rows.items():
            if place := places.get(slug):
                path = PurePosixPath(place.relative_to(root)).as_posix()
                found[slug] = LocalAnswer(
                    root, slug, path, row.get("start", ""), row.get("kind") == "project"
                )
    return found


def _may_be(place: Path) -> bool:
    return place.suffix == ".py" or (place / project.START).is_file()
