"""A PostgreSQL server of its own for tests: in a temporary folder, on a Unix socket, with no port.

A test that asks for it skips where PostgreSQL or its driver is not installed: `make test` installs both.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_HOMES = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"


def _program(name: str) -> str | None:
    """Debian and others keep the server's programs off the PATH."""
    root = Path("/")
    homes = [str(folder) for pattern in _HOMES for folder in sorted(root.glob(pattern[1:]), reverse=True)]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(homes))


def _somebody() -> str | None:
    """PostgreSQL refuses to run as root: whom to run it as then."""
    if os.getuid() != 0:
        return None
    names = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Callable[[str], str]]:
    """Make databases: `postgres("new")` is the URL of one."""
    psycopg = pytest.importorskip("psycopg", reason="PostgreSQL's driver is an optional extra")
    initdb, server = _program("initdb"), _program("postgres")
    if not initdb or not server:
        pytest.skip("no PostgreSQL here: `make database` installs it")
    # Not pytest's own folder: a socket's path must be short, and somebody else must get there.
    folder = tempfile.mkdtemp(prefix="kata-pg-")
    user = _somebody()
    if user:
        shutil.chown(folder, user)
    run_as = {"user": user, "extra_groups": []} if user else {}
    data = f"{folder}/data"
    options = {"fsync": "off", "listen_addresses": "", "unix_socket_directories": folder}
    settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    try:
        make = [initdb, "-D", data, "-U", "kata", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(make, cwd=folder, check=True, capture_output=True, **run_as)
        with (
            tempfile.TemporaryFile() as log,
            subprocess.Popen([server, "-D", data, *settings], cwd=folder, stderr=log, **run_as) as running,
        ):
            try:
                where = {"host": folder, "user": "kata", "dbname": "postgres"}

                def ask(command: str) -> None:
                    with psycopg.connect(**where, autocommit=True) as connection:
                        connection.execute(command)

                for wait in range(200):
                    try:
                        ask("SELECT 1")
                        break
                    except psycopg.OperationalError:
                        if running.poll() is not None or wait == 199:
                            log.seek(0)
                            raise AssertionError(log.read().decode()) from None
                        time.sleep(0.05 + wait / 500)

                def database(name: str) -> str:
                    ask(f'CREATE DATABASE "{name}"')
                    return f"postgresql+psycopg://kata@/{name}?host={folder}"

                yield database
            finally:
                running.send_signal(signal.SIGQUIT)
                running.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
