"""An author's patches, each of which makes one bug of the right program: read, looked at, applied."""

import email
import email.policy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.core.errors import KataError
from grader.course import paths
from grader.course.bug_pool import HIDES

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile, PatchSet

_BEGIN = re.compile(r"^(?:diff |---|Index: )", re.MULTILINE)
_OF_GIT = re.compile(r"(?:From|commit|Author|Date|Merge)\b")
"""Begins what git writes above a message."""


@dataclass(frozen=True)
class Patch:
    """One bug: its name, what is wrong (or ""), and the files that it changes, as it leaves them."""

    name: str
    about: str
    where: str
    wrong: Mapping[str, str]


def read(folder: Path, program: Mapping[str, str]) -> list[Patch]:
    """The patches in a folder, in the order of their files' names, applied to the texts of a program.

    Raises:
        KataError: there are none, one does not apply, or does more than to change lines.
    """
    if not folder.is_dir():
        raise KataError(
            f"{paths.shown(folder)} is no folder; put a patch for each bug there, or say --patches"
        )
    files = sorted(file for file in folder.glob("*") if file.suffix in (".patch", ".diff"))
    if not files:
        raise KataError(
            f"{paths.shown(folder)} holds no patch; put one there for each bug, as mask_peeks.patch"
        )
    found: dict[str, Patch] = {}
    for file in files:
        patch = _read(file, program)
        if patch.name in found:
            raise KataError(f"{found[patch.name].where} and {patch.where} are both called {patch.name}")
        found[patch.name] = patch
    return list(found.values())


def _read(file: Path, program: Mapping[str, str]) -> Patch:
    where = paths.shown(file)
    name = re.sub(r"\W+", "_", re.sub(r"^\d+[-_.]*", "", file.stem).lower(), flags=re.ASCII).strip("_")
    if not re.fullmatch(r"[a-z]\w*", name, re.ASCII) or name == HIDES:
        raise KataError(f"{where}: call it after its bug, in letters, as mask_peeks.patch")
    try:
        text = file.read_bytes().replace(b"\r\n", b"\n").decode("utf-8")
    except UnicodeDecodeError:
        raise KataError(f"{where} is no UTF-8; save it as such") from None
    wrong: dict[str, str] = {}
    for changed in _parsed(text, where):
        path = _path(changed, program, where)
        wrong[path] = _applied(wrong.get(path, program[path]), changed, f"{where}: hunk {{}} of {path}")
    if not any(held != program[path] for path, held in wrong.items()):
        raise KataError(f"{where} changes no line; it is to be what `git diff` or `diff -u` writes")
    return Patch(name, _about(text), where, wrong)


def _parsed(text: str, where: str) -> "PatchSet":
    try:
        from unidiff.errors import UnidiffParseError
        from unidiff.patch import PatchSet
    except ImportError as missing:
        raise KataError(f"patches need unidiff ({missing}): pip install 'torchkata[class]'") from None
    try:
        return PatchSet(text)
    except UnidiffParseError as broken:
        raise KataError(f"{where} is no unified diff: {str(broken).strip()}") from None


def _path(changed: "PatchedFile", program: Mapping[str, str], where: str) -> str:
    """The file of the program that is changed; raises KataError where that is not all that is done."""
    what = ""
    if changed.is_binary_file:
        what = "changes bytes, not lines, of"
    elif any(line.startswith(("rename ", "copy ")) for line in changed.patch_info or ()):
        what = "renames or copies"
    elif changed.is_added_file:
        what = "adds"
    elif changed.is_removed_file:
        what = "deletes"
    if what:
        raise KataError(f"{where} {what} {changed.path}: a bug changes lines of files that are there")
    found = [_held(path, program) for path in (changed.source_file, changed.target_file)]
    if not any(found):
        raise KataError(f"{where}: {changed.path} is no file of the program, which has {', '.join(program)}")
    if all(found) and found[0] != found[1]:
        raise KataError(f"{where} renames {found[0]}: a bug changes lines of files that are there")
    return found[0] or found[1]


def _held(path: str, program: Mapping[str, str]) -> str:
    """The program's file of this path, which may begin with folders above the program; "" for none."""
    parts = path.strip('"').split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in ends if end in program), "")


def _applied(text: str, changed: "PatchedFile", where: str) -> str:
    lines, moved = text.split("\n"), 0
    for number, hunk in enumerate(changed, start=1):
        out, into = (list(_lines(hunk, added=added)) for added in (False, True))
        wanted = hunk.source_start - bool(out) + moved
        fitting = [at for at in range(len(lines) + 1) if lines[at : at + len(out)] == out]
        if not fitting:
            raise KataError(f"{where.format(number)} does not apply: {_apart(lines, out, wanted)}")
        at = min(fitting, key=lambda place: abs(place - wanted))
        lines[at : at + len(out)] = into
        moved += len(into) - len(out)
    return "\n".join(lines)


def _lines(hunk: "Hunk", *, added: bool) -> Iterator[str]:
    """The lines before, or those after."""
    for line in hunk:
        if line.is_context or (line.is_added if added else line.is_removed):
            yield line.value.rstrip("\n")


def _apart(lines: list[str], out: list[str], start: int) -> str:
    """The first line that is another than the patch has."""
    for number, line in enumerate(out, start=start):
        here = lines[number] if 0 <= number < len(lines) else None
        if here != line:
            said = f"is {here.strip()!r}" if here is not None else "is not there"
            return f"line {number + 1} {said}, and the patch has {line.strip()!r}"
    return "its lines are not there"


def _about(text: str) -> str:
    """The first line of a patch's message; "" where it has none."""
    head = _BEGIN.split(text, maxsplit=1)[0]
    if subject := email.message_from_string(head, policy=email.policy.default)["Subject"]:
        return " ".join(re.sub(r"^\s*(?:\[[^\]]*\]\s*)+", "", str(subject)).split())
    lines = (line.strip() for line in head.splitlines())
    return next((line for line in lines if line and not _OF_GIT.match(line)), "")
