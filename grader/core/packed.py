"""A tree of files as one run of bytes: the same files always make the same bytes."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, bytes]
"""What files hold, by their paths from the top, with slashes."""


def packed(files: Files) -> bytes:
    """The files as one run of bytes, in the order of their paths, without times and owners."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(files):
            member = tarfile.TarInfo(path)
            member.size = len(files[path])
            archive.addfile(member, io.BytesIO(files[path]))
    return content.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files that `packed` made these bytes of; none of no bytes."""
    found: dict[str, bytes] = {}
    if not content:
        return found
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for member in archive:
            stream = archive.extractfile(member)
            assert stream is not None
            found[member.name] = stream.read()
    return found


def written(files: Files, root: Path) -> None:
    """Write the files below `root`; what is there already gives way."""
    made = set()
    for path, content in files.items():
        file = root / path
        if file.parent not in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            made.add(file.parent)
        file.write_bytes(content)
