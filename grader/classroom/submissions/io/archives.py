"""Zips and tarballs of other people, read as folders: nothing is ever written to disk.

An archive is a claim about files, and every part of it may be a lie. So names that lead elsewhere, links and
devices are never followed; what is read is counted as it is unpacked, whatever the archive says of its
size; and an archive that cannot be read costs nobody but the one who handed it in.
"""

import io
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from grader.classroom.submissions.io import _compat
from grader.classroom.submissions.io.folders import FILE, FOLDER, KINDS, LINK, Folder, Refused, short, whole
from grader.classroom.submissions.io.streams import Budget, Counted, Listing, decompressed

MIB = 1 << 20
MAX_ARCHIVE = 64 * MIB
"""The largest archive within another one; it is unpacked into memory."""
_MAX_PARTS, MAX_PART = 32, 255
_MAX_HEADER, _MAX_HEADERS = 4 << 10, 256 << 10

_NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)
"""Browsers add the rest."""
_ENDINGS = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz|zst)|7z|rar)$", re.IGNORECASE)
_UNREAD = {b"7z\xbc\xaf": "a 7z archive", b"Rar!": "a RAR archive", b"\x28\xb5\x2f\xfd": "compressed by zstd"}


@dataclass(frozen=True)
class ArchiveLimits:
    """What one archive may cost.

    Args:
        listing: bytes of a zip's directory; a tarball may have an entry for every hundred of them.
        unpacked: bytes that a tarball unpacks to, since it cannot be read without unpacking it.
        read: bytes of all the files that are read from it.
        folders: how many there may be, each of which takes memory.
        kept: bytes of any file of a tarball that are kept, whatever its name; more of those worth reading.
    """

    listing: int
    unpacked: int
    read: int
    folders: int = 20_000
    kept: int = 0


ONE = ArchiveLimits(listing=4 * MIB, unpacked=256 * MIB, read=96 * MIB)
"""One student's archive."""
CLASS = ArchiveLimits(listing=64 * MIB, unpacked=16384 * MIB, read=2048 * MIB, folders=500_000)
"""An archive that an instructor downloaded, with a whole class in it."""


def is_archive(name: str) -> bool:
    """Whether a file's name says that it is an archive."""
    return _ENDINGS.search(name) is not None


def is_notebook(name: str) -> bool:
    """Whether a file's name says that it is a notebook."""
    return _NOTEBOOK.search(name) is not None


def stem(name: str) -> str:
    """The name of an archive without its ending."""
    return _ENDINGS.sub("", name)


def wanted(name: str) -> int:
    """How many bytes of a file are worth unpacking from a tarball, by its name."""
    if is_archive(name):
        return MAX_ARCHIVE
    if is_notebook(name):
        return 32 * MIB
    return MIB if name.lower().endswith((".py", ".txt")) else 0


class Unpacked:
    """A folder in an archive.

    At the top only, `oddities` tells what somebody may wonder at, and `left_out` has the entries that are not
    there, and why.
    """

    def __init__(self, folders: int = 0) -> None:
        self.oddities: list[str] = []
        self.left_out: list[tuple[str, str]] = []
        self._room = folders
        self._entries: dict[str, _Entry | Unpacked] = {}

    def kinds(self) -> Mapping[str, str]:
        return {
            name: FOLDER if isinstance(entry, Unpacked) else entry.kind
            for name, entry in sorted(self._entries.items())
        }

    @contextmanager
    def entered(self, name: str) -> Iterator[Folder]:
        entry = self._entries[name]
        if not isinstance(entry, Unpacked):
            raise Refused(f"is {entry.kind}")
        yield entry

    @contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO]:
        yield io.BytesIO(self.content(name, MAX_ARCHIVE))

    def content(self, name: str, most: int) -> bytes:
        entry = self._entries[name]
        kind = FOLDER if isinstance(entry, Unpacked) else entry.kind
        if isinstance(entry, Unpacked) or kind != FILE:
            raise Refused(f"is {kind}")
        with _told():
            return entry.read(most)

    def _leave_out(self, name: str, reason: str) -> None:
        self.left_out.append((name, reason))
        self.oddities.append(f"{short(name)} {reason}")

    def put(self, name: str, entry: "_Entry | None") -> None:
        """Add what lies at the path `name`; None is a folder. Of two files, the last counts."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or len(parts) > _MAX_PARTS:
            self._leave_out(name, "leads out of the archive or too deep")
            return
        if any(len(part) > MAX_PART for part in parts):
            self._leave_out(name, "is too long a name")
            return
        folder = self
        for part in parts if entry is None else parts[:-1]:
            if part not in folder._entries:
                self._room -= 1
                if self._room < 0:
                    raise Refused("holds too many folders; hand in your answers alone")
                folder._entries[part] = Unpacked()
            below = folder._entries[part]
            if not isinstance(below, Unpacked):
                self._leave_out(name, "lies in a file")
                return
            folder = below
        if entry is None or not parts:
            return
        before = folder._entries.get(parts[-1])
        if isinstance(before, Unpacked):
            self._leave_out(name, "is a folder as well")
            return
        if before is not None:
            self.oddities.append(f"{short(name)} is there twice; the last counts")
        folder._entries[parts[-1]] = entry


@dataclass(frozen=True)
class _Entry:
    kind: str
    read: Callable[[int], bytes]


@contextmanager
def opened(file: BinaryIO, limits: ArchiveLimits = ONE) -> Iterator[Unpacked]:
    """The archive in `file`, for as long as the context lasts.

    Raises:
        Refused: it is none, it is broken, or it holds more than the limits allow.
    """
    with ExitStack() as stack:
        with _told():
            start = file.read(8)
            file.seek(0)
            for sign, what in _UNREAD.items():
                if start.startswith(sign):
                    raise Refused(f"is {what}, which is not read; hand in a zip")
            read = _read_zip if start.startswith(b"PK") else _read_tar
            root = read(file, limits, stack)
        yield root


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Refused:
        raise
    # The libraries raise whatever they stumble over: struct.error, zlib.error, KeyError, RuntimeError...
    except Exception as broken:
        words = str(broken).splitlines() or [type(broken).__name__]
        raise Refused(f"is no archive that can be read ({words[0][:100]})") from None


def _read_zip(file: BinaryIO, limits: ArchiveLimits, stack: ExitStack) -> Unpacked:
    root = Unpacked(limits.folders)
    budget = Budget(limits.read)
    archive = stack.enter_context(zipfile.ZipFile(Listing(file, limits.listing)))
    for info in archive.infolist():
        name = _zip_name(info)
        if re.match(r"[A-Za-z]:", name):
            name = f"/{name}"  # a drive: as absolute as a path gets
        kind = KINDS.get(stat.S_IFMT(info.external_attr >> 16), FILE)
        folder = name.endswith("/") or kind == FOLDER
        root.put(name, None if folder else _Entry(kind, partial(_unzip, archive, info, budget)))
    return root


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name with slashes, as Windows may write backslashes; macOS writes UTF-8 and does not say so.

    Where there are slashes, a backslash after what is no ASCII is half a letter, as Shift-JIS has them.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    return re.sub(r"(?<![^\x00-\x7f])\\", "/", name) if "/" in name else name.replace("\\", "/")


def _unzip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget, most: int) -> bytes:
    if info.flag_bits & 0x1:
        raise Refused("is encrypted; hand it in without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused("is compressed in an unusual way; hand in a plain zip")
    with archive.open(info) as stream:
        return budget.spend(whole(stream, most))  # type: ignore[arg-type]


def _read_tar(file: BinaryIO, limits: ArchiveLimits, stack: ExitStack) -> Unpacked:
    root = Unpacked(limits.folders)
    budget = Budget(limits.read)
    unpacked = Counted(decompressed(file, stack), limits.unpacked)
    stream: Any = unpacked
    archive = tarfile.open(fileobj=stream, mode="r|", tarinfo=_member())  # noqa: SIM115 closed by the stack
    stack.enter_context(archive)
    for count, member in enumerate(archive):
        if count * 100 > limits.listing:
            raise Refused("holds too many files; hand in your answers alone")
        unpacked.expect(member.size)  # before it is passed over, which reads as much
        if member.isdir():
            root.put(member.name, None)
        elif member.isreg() and not member.issparse():
            content = _content(archive, member, budget, limits.kept)
            root.put(member.name, _Entry(FILE, partial(_kept, content)))
        else:
            kind = LINK if member.issym() or member.islnk() else "no plain file"
            root.put(member.name, _Entry(kind, bytes))
    return root


def _member() -> type[tarfile.TarInfo]:
    """Members whose extended headers are small: to search large ones takes old versions of Python hours."""
    left = _MAX_HEADERS

    class LimitedMember(_compat.Member):
        def before_header(self) -> None:
            nonlocal left
            left -= self.size
            if self.size > _MAX_HEADER or left < 0:
                raise Refused("has headers that are too long; hand in a zip")

        def before_map(self) -> None:
            raise Refused("holds a sparse file; hand in a zip")

    return LimitedMember


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, budget: Budget, kept: int) -> bytes | None:
    """What the member holds, if that is worth keeping: a tarball cannot be sought in."""
    if not 0 <= member.size <= max(kept, wanted(member.name)):
        return None
    stream = archive.extractfile(member)
    return None if stream is None else budget.spend(whole(stream, member.size))  # type: ignore[arg-type]


def _kept(content: bytes | None, most: int) -> bytes:
    if content is None or len(content) > most:
        raise Refused(f"is larger than {most >> 20} MiB")
    return content
