"""Where in what a student handed in the repository lies, and which file of it is meant by another name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from grader.classroom.submissions.io.folders import FILE, short
from grader.classroom.submissions.likeness import spellings
from grader.classroom.submissions.platforms import original


@dataclass(frozen=True)
class Place:
    """The folder `top` of what was handed in is the repository's folder `prefix`; "" stands for all of it.

    `renamed` has what a file in it is read as instead; `left` are folders that could have been meant as well.
    """

    top: str = ""
    prefix: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    left: tuple[str, ...] = ()

    def path(self, path: str) -> str:
        """What a path below `top` is in the repository."""
        return self.renamed.get(path) or _joined(self.prefix, path)

    def told(self) -> Iterator[str]:
        """What somebody may wonder at."""
        yield from (f"{short(name)} as {path}" for name, path in self.renamed.items())
        if self.prefix and self.top and not self.renamed:
            yield f"{short(self.top)}/ as {self.prefix}/"
        if self.left:
            places = ", ".join(f"{short(folder)}/" if folder else "the top" for folder in self.left)
            yield f"{f'{short(self.top)}/' if self.top else 'the top'}, not {places}"


def found(kinds: Mapping[str, str], landmarks: Sequence[str]) -> Place | None:
    """Where one of the landmarks lies as it should; the first that is anywhere tells, the least deep one.

    Args:
        kinds: all that was handed in, by its path, and what it is.
    """
    for landmark in landmarks:
        if (top := _least_deep(_ending(kinds, landmark))) is not None:
            return Place(_without(top, landmark))
    return None


def meant(kinds: Mapping[str, str], landmarks: Sequence[str]) -> Place | None:
    """Where a file lies that is meant to be one of the landmarks, if that is certain.

    It may lie in fewer folders, or have what people, platforms and browsers add to its name.
    """
    files = [path for path, kind in kinds.items() if kind == FILE]
    for landmark in landmarks:
        for prefix, tail in _tails(landmark):
            if len(held := _ending(files, tail)) == 1:
                return Place(_without(held[0], tail), prefix)
    for landmark in landmarks:
        if copies := _copies(files, landmark):
            return _as(max(copies, key=lambda path: (-path.count("/"), _number(path))), landmark)
    return None


def completed(place: Place, kinds: Mapping[str, str], wanted: Sequence[str]) -> Place:
    """The place with what is meant by wanted files that are not there, and what lies elsewhere as well."""
    files = [path for path, kind in kinds.items() if kind == FILE]
    renamed, left = dict(place.renamed), []
    for path in wanted:
        there = _joined(place.top, path.removeprefix(f"{place.prefix}/" if place.prefix else ""))
        left += [_without(other, path) for other in _ending(files, path) if other != there]
        if there in files or path in renamed.values():
            continue
        home = PurePosixPath(there).parent
        if copies := _copies((other for other in files if PurePosixPath(other).parent == home), path):
            newest = max(copies, key=_number)
            renamed[newest.removeprefix(f"{place.top}/" if place.top else "")] = path
    return replace(place, renamed=renamed, left=tuple(dict.fromkeys(left)))


def _as(path: str, landmark: str) -> Place:
    file, home = PurePosixPath(path), str(PurePosixPath(landmark).parent)
    top = str(file.parent)
    return Place("" if top == "." else top, "" if home == "." else home, {file.name: landmark})


def _tails(landmark: str) -> Iterator[tuple[str, str]]:
    """The ways to split a path, the longest tail first: `a` and `b/c.py`, `a/b` and `c.py`."""
    parts = landmark.split("/")
    for place in range(1, len(parts)):
        yield "/".join(parts[:place]), "/".join(parts[place:])


def _copies(paths: Iterable[str], landmark: str) -> list[str]:
    """The files whose names mean the landmark's."""
    name = PurePosixPath(landmark).stem.casefold().replace("-", "_")
    return [path for path in paths if name in spellings(path)]


def _ending(paths: Iterable[str], tail: str) -> list[str]:
    return [path for path in paths if f"/{path}".endswith(f"/{tail}")]


def _least_deep(paths: Iterable[str]) -> str | None:
    return min(paths, key=lambda path: (path.count("/"), path), default=None)


def _without(path: str, tail: str) -> str:
    return path.removesuffix(tail).rstrip("/")


def _number(path: str) -> int:
    return original(PurePosixPath(path).name)[1]


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}/{path}" if prefix else path
