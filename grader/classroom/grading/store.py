"""Verdicts among the results, each under the address of what it depends on."""

from pathlib import Path
from typing import Any

from grader.core.errors import KataError
from grader.course import paths
from grader.records.records import (
    ExerciseRecord,
    exercise_from_json,
    exercise_to_json,
    read_json,
    write_json,
)


def expect_writable(out: Path) -> None:
    """Raises KataError where results cannot go to this folder, which is made."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise KataError(
            f"cannot write results to {out}: {error.strerror}; choose another folder with --out"
        ) from None


class Store:
    """Verdicts by the address of what they depend on."""

    def __init__(self, out: Path) -> None:
        self.folder = out / ".judged"
        self.unjudged: dict[str, ExerciseRecord] = {}
        self._known: dict[str, ExerciseRecord] = {}

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def get(self, key: str) -> ExerciseRecord | None:
        """The verdict, or None where there is none or its file is damaged: it is judged again then."""
        if key not in self._known:
            data = read_json(self._file(key))
            try:
                self._known[key] = exercise_from_json(data)
            except (TypeError, KeyError):
                return None
        return self._known[key]

    def put(self, key: str, record: ExerciseRecord) -> None:
        write(self._file(key), exercise_to_json(record), durable=False)
        self._known[key] = record


def write(file: Path, data: Any, *, durable: bool = True) -> None:
    """Write JSON to a file. Raises KataError where that fails."""
    try:
        write_json(file, data, durable=durable)
    except OSError as error:
        raise KataError(
            f"cannot write {paths.shown(file)}: {error.strerror}; mend that and run again: "
            "what has been judged is kept, and nothing wrong was written"
        ) from None
