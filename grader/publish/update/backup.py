"""The files that an update replaces, kept in a folder with its date."""

import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from grader.course import paths


class Backup:
    """Copies of files of the folder `root`, under their paths; the folder is made with the first of them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        stamp = time.strftime("%Y%m%d-%H%M%S")
        names = (f"update-{stamp}{number}" for number in ("", *(f"-{n}" for n in range(2, 100))))
        self.folder = next(
            f for name in names if not (f := root / paths.STATE.name / "backups" / name).exists()
        )
        self._kept: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._kept)

    def keep(self, files: Iterable[str]) -> None:
        """Copy these files, those that are there."""
        for path in files:
            file = self._root / path
            if path not in self._kept and (file.is_file() or file.is_symlink()):
                place = self.folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, place, follow_symlinks=False)
                self._kept.append(path)

    def put_back(self) -> None:
        """All of them are again what they were."""
        for path in self._kept:
            place = self._root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            shutil.copy2(self.folder / path, place, follow_symlinks=False)

    def __contains__(self, path: str) -> bool:
        return path in self._kept

    def shown(self, path: str = "") -> str:
        """A kept file, or the folder, as a person would type it."""
        return paths.shown(self.folder / path)
