"""A folder of other people's files: no link is followed, no pipe opened."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import BinaryIO, Protocol

FILE, FOLDER, LINK = "a file", "a folder", "a link, which is not followed"
KINDS = {
    stat.S_IFREG: FILE,
    stat.S_IFDIR: FOLDER,
    stat.S_IFLNK: LINK,
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_CHUNK = 1 << 20
_MAX_TOLD = 160


class Refused(Exception):
    """A file or folder that is not read, and why."""


class Folder(Protocol):
    """What a folder on disk and one inside an archive have in common."""

    def kinds(self) -> Mapping[str, str]:
        """What every entry is, by its name, sorted."""
        ...

    def entered(self, name: str) -> AbstractContextManager["Folder"]:
        """A folder in this one."""
        ...

    def stream(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A file in this folder, from its beginning; it can be sought in."""
        ...

    def content(self, name: str, most: int) -> bytes:
        """A whole file in this folder, of at most so many bytes."""
        ...


class Directory:
    """A folder on disk, by its open handle."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def kinds(self) -> Mapping[str, str]:
        found = {}
        for name in sorted(os.listdir(self._handle)):  # noqa: PTH208 a handle has no path
            with suppress(FileNotFoundError):
                found[name] = _kind(name, self._handle)
        return found

    @contextmanager
    def entered(self, name: str) -> Iterator[Folder]:
        with _opened(name, self._handle, FOLDER) as handle:
            yield Directory(handle)

    @contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO]:
        with (
            _opened(name, self._handle, FILE) as handle,
            os.fdopen(handle, "rb", closefd=False) as stream,
        ):
            yield stream

    def content(self, name: str, most: int) -> bytes:
        with self.stream(name) as stream:
            return whole(stream, most)


def whole(stream: BinaryIO, most: int) -> bytes:
    """All of a stream that holds at most so many bytes, read piece by piece."""
    parts = []
    left = most + 1
    while left and (part := stream.read(min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise Refused(f"is larger than {most >> 20} MiB")
    return b"".join(parts)


def why(refused: Refused | OSError) -> str:
    """The reason, to stand after the file's name."""
    return f"cannot be read ({refused.strerror})" if isinstance(refused, OSError) else str(refused)


def escaped(name: str) -> str:
    """`name` with control characters, undecodable bytes and backslashes written as escapes.

    Two names never become the same one, which is why backslashes are escaped too.
    """
    return "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in name)


def short(where: str) -> str:
    """A path of any length as it is told: its beginning and its end."""
    return where if len(where) <= _MAX_TOLD else f"{where[:60]}...{where[-90:]}"


@contextmanager
def _opened(name: str, parent: int, wanted: str) -> Iterator[int]:
    """Open one entry of a folder if it is of the wanted kind.

    It is looked at first, since opening a device can already do something, and again once open,
    in case it was exchanged in between.
    """
    kind = _kind(name, parent)
    if kind != wanted:
        raise Refused(f"is {kind}")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    try:
        if KINDS[stat.S_IFMT(os.fstat(handle).st_mode)] != wanted:
            raise Refused("changed while it was read")
        yield handle
    finally:
        os.close(handle)


def _kind(name: str, parent: int) -> str:
    return KINDS[stat.S_IFMT(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)]
