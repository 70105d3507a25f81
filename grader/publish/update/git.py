"""Git, asked in a repository: what it says, or why it would not."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from grader.core.errors import KataError


class Git:
    """The commands of git that an update takes, in the repository `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str, given: bytes | None = None, index: Path | None = None) -> bytes:
        """What git prints; `index` is another index than the repository's.

        Raises:
            KataError: it did not do it, and why.
        """
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        environment |= {"GIT_INDEX_FILE": str(index)} if index else {}
        command = ["git", "-C", str(self.root), *arguments]
        try:
            done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
        except OSError as error:
            raise KataError(
                f"git cannot be run ({error.strerror}); `kata update --from DIR` does without"
            ) from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
            raise KataError(f"git {arguments[0]}: {said[-1]}")
        return done.stdout

    def text(self, *arguments: str) -> str:
        """What git prints, in one line."""
        return self.run(*arguments).decode(errors="surrogateescape").strip()

    def asked(self, *arguments: str) -> str:
        """The same; "" where git has no answer."""
        try:
            return self.text(*arguments)
        except KataError:
            return ""

    def names(self, *arguments: str) -> list[str]:
        """Paths that git lists with -z."""
        found = self.run(*arguments).decode(errors="surrogateescape")
        return [name for name in found.split("\0") if name]

    def is_ancestor(self, one: str, other: str) -> bool:
        """Whether `other` has all that `one` has."""
        return self.asked("merge-base", one, other) == self.text("rev-parse", f"{one}^{{commit}}")

    def blobs(self, commit: str) -> dict[str, tuple[str, str]]:
        """Mode and digest of each file of a commit."""
        rows = (row.partition("\t") for row in self.names("ls-tree", "-rz", commit))
        return {path: (entry.split()[0], entry.split()[2]) for entry, _, path in rows}

    def checkout(self, files: Iterable[str]) -> None:
        """The index's version of these files."""
        if names := "\0".join(files):
            given = names.encode(errors="surrogateescape")
            self.run("checkout", "-q", "--pathspec-from-file=-", "--pathspec-file-nul", given=given)
