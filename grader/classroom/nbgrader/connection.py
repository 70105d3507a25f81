"""The database of a gradebook: where it is, and what goes wrong with it, as one line."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from grader.core import atomic_write
from grader.core.errors import KataError

_ADVICE = (
    ("locked", "another program is writing to it: close that one, or wait, and try again"),
    ("unable to open", "check that its folder exists and that you may write there"),
    ("readonly", "you may not write to it: change its permissions or name another gradebook"),
    ("disk is full", "free some space there and try again"),
    ("disk I/O error", "look after the disk that it lies on, and try again"),
    ("not a database", "it is no gradebook: name another file, or move this one away"),
    ("malformed", "the file is damaged: restore a copy, or move it away and grade again"),
    ("no such column", "it was made by an older nbgrader: run `nbgrader db upgrade`"),
)


@dataclass(frozen=True)
class Database:
    """Where a gradebook is.

    Args:
        url: SQLAlchemy's.
        shown: the same as it may be printed: without its password.
    """

    url: Any
    shown: str

    @property
    def folder(self) -> Path:
        """Where the course is: around the gradebook's file, or here for a server's."""
        is_file = self.url.get_backend_name() == "sqlite"
        return Path(self.url.database or "").absolute().parent if is_file else Path.cwd()

    @property
    def may_exist(self) -> bool:
        """Whether its file is there; of a server nobody knows before asking it."""
        file = self.url.database if self.url.get_backend_name() == "sqlite" else None
        return not file or file.startswith("file:") or Path(file).is_file()


def place(url: str) -> Database:
    """The gradebook that is meant by a SQLAlchemy URL, or by a bare path, which means SQLite."""
    try:
        from sqlalchemy.engine import URL, make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as missing:
        raise _not_installed(missing) from None
    if not url.strip():
        raise KataError("the gradebook has no name; give a file such as gradebook.db or a database URL")
    if "://" not in url:
        return Database(URL.create("sqlite", database=url), url)
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise KataError(
            "the gradebook's URL cannot be read; it looks like sqlite:///gradebook.db or "
            "postgresql://user:password@host/name"
        ) from None
    if address.get_backend_name() == "sqlite" and address.database in (None, "", ":memory:"):
        raise KataError(f"the gradebook {url} would be lost at once; name a file: sqlite:///gradebook.db")
    return Database(address, address.render_as_string(hide_password=True))


KEPT = ".gradebook"
"""Holds, among results, the address of the gradebook that they were entered into."""


def keep(results: Path, where: Database) -> None:
    """Note which gradebook these results were entered into, without a password."""
    atomic_write.write(results / KEPT, f"{_address(results, where)}\n")


def is_kept(results: Path, where: Database) -> bool:
    """Whether these results were entered into this gradebook last."""
    return _kept(results) == _address(results, where)


def _address(results: Path, where: Database) -> str:
    url = where.url
    if url.get_backend_name() == "sqlite" and not url.query:
        return os.path.relpath(url.database, results)
    rest = (url.host, url.port, url.database, url.query)
    address: str = type(url).create(url.drivername, url.username, None, *rest).render_as_string()
    return address


def _kept(results: Path) -> str | None:
    try:
        return (results / KEPT).read_text("utf-8").strip()
    except (OSError, UnicodeError):
        return None


def kept(results: Path) -> str | None:
    """The address of the gradebook that these results were entered into, if there is one."""
    address = _kept(results)
    if not address or "://" in address:
        return address
    return os.path.relpath(results / address)


@contextmanager
def opened(where: Database) -> Iterator[Any]:
    """nbgrader's gradebook; what goes wrong with the database becomes one line."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        from nbgrader.api import Gradebook, InvalidEntry
    except ImportError as missing:
        raise _not_installed(missing) from None
    # nbgrader logs a traceback before it raises; whoever called us gets one line instead.
    logging.getLogger("tornado.application").addHandler(logging.NullHandler())
    try:
        with _alembic_on_path():
            gradebook = Gradebook(where.url)
        with gradebook:
            yield gradebook
    except ImportError as missing:
        driver = missing.name or missing
        raise KataError(
            f"gradebook {where.shown}: its driver {driver} is not installed; pip install it"
        ) from None
    except (SQLAlchemyError, InvalidEntry, CalledProcessError, OSError) as broken:
        reason = first_line(broken)
        advice = next((words for sign, words in _ADVICE if sign in reason), "check the address and try again")
        raise KataError(f"gradebook {where.shown}: {reason}; {advice}") from None


@contextmanager
def _alembic_on_path() -> Iterator[None]:
    """nbgrader runs the command `alembic` to make a new gradebook, which an environment that was
    not activated keeps beside its Python and off the PATH."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([before, str(Path(sys.executable).parent)])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _not_installed(missing: ImportError) -> KataError:
    return KataError(f"a gradebook needs nbgrader ({missing}); pip install 'torchkata[class]'")


def one_students() -> tuple[type[Exception], ...]:
    """What one student's data can cause; any other database error is the gradebook's own."""
    from sqlalchemy.exc import DataError, IntegrityError

    return (DataError, IntegrityError, ValueError)


def first_line(mistake: Exception) -> str:
    """The driver's own words, without SQLAlchemy's statement and parameters."""
    text = str(getattr(mistake, "orig", None) or mistake).strip()
    return text.splitlines()[0] if text else type(mistake).__name__
