"""Streams of other people's bytes, which end in a refusal where they would cost too much."""

import bz2
import gzip
import lzma
from contextlib import ExitStack
from typing import Any, BinaryIO

from grader.classroom.submissions.io.folders import Refused

_MEMORY = 128 << 20  # what a decoder of xz may use
_MOST_ENDS = 8
"""How often a stream is read at its end: `tarfile` passes over what is not there block by block."""


def decompressed(file: BinaryIO, stack: ExitStack) -> Any:
    """What `file` holds, unpacked where it is compressed by gzip, bzip2 or xz."""
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return stack.enter_context(gzip.GzipFile(fileobj=file))
    if start.startswith(b"BZh"):
        return stack.enter_context(bz2.BZ2File(file))
    return _Xz(file) if start == b"\xfd7zXZ\0" else file


class _Xz:
    """Like `lzma.LZMAFile`, which has no limit on memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)

    def read(self, size: int) -> bytes:
        while not self._decoder.eof:
            hungry = self._decoder.needs_input
            more = self._file.read(1 << 16) if hungry else b""
            part = self._decoder.decompress(more, size)
            if part or (hungry and not more):
                return part
        return b""


class Counted:
    """A stream that ends in a refusal once it has given more than allowed, or is read on at its end."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._left = most
        self._most = most
        self._ends = 0

    def read(self, size: int) -> bytes:
        part: bytes = self._stream.read(size)
        self._ends += not part
        if self._ends > _MOST_ENDS:
            raise Refused("claims to hold more than is there")
        self._left -= len(part)
        self.expect(0)
        return part

    def expect(self, size: int) -> None:
        """Raises Refused where so many bytes are more than may still come."""
        if size > self._left:
            raise Refused(f"unpacks to more than {self._most >> 20} MiB; hand in your answers alone")


class Budget:
    """What may still be read of an archive."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._most = most

    def spend(self, content: bytes) -> bytes:
        """The content that was read, unless it is more than what was left."""
        self._left -= len(content)
        if self._left < 0:
            raise Refused(f"lies in an archive of which more than {self._most >> 20} MiB would be read")
        return content


class Listing:
    """A zip's file that refuses one large read: zipfile reads the whole directory at once."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file = file
        self._most = most
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise Refused("lists too many files; hand in your answers alone")
        part = self._file.read(self._most + 1 if size < 0 else size)
        if len(part) > self._most:
            raise Refused("lists too many files; hand in your answers alone")
        return part

    def close(self) -> None:
        """Whoever opened the file closes it."""
