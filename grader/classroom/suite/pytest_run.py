"""One run of pytest in a process that ends after it: the suite laid over somebody's files."""

import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from iniconfig import IniConfig, ParseError

from grader.classroom.suite.seeds import Seeds
from grader.classroom.suite.warm_suite import WarmSuite
from grader.core.packed import Files, written
from grader.core.toml import tomllib
from grader.engine.printed import Printed

_ARGUMENTS = (
    *("-q", "--tb=no", "--capture=no", "-pno:cacheprovider", "-pno:faulthandler", "-pno:junitxml"),
    *("-pno:unraisableexception", "-pno:threadexception"),  # which gather garbage again and again
    *("-oaddopts=", "-otruncation_limit_lines=0", "-otruncation_limit_chars=0"),  # feedback is cut anyway
)


def warm_up() -> None:
    """Import all of pytest that a run needs, by one without tests."""
    with tempfile.TemporaryDirectory() as empty, redirect_stdout(io.StringIO()):
        pytest.main([*_ARGUMENTS, "--collect-only", "-c", os.devnull, f"--rootdir={empty}", empty])


def laid(suite: WarmSuite, own: Files) -> Path:
    """A folder below the current one: what was handed out, somebody's own files, and the suite over them."""
    root, installed = (Path.cwd() / name for name in ("submission", "installed"))
    root.mkdir()
    written(_left(suite.given, own), root)
    written(own, root)
    written(suite.files, root)
    os.chdir(root)
    # As in a repository that is installed; last, so that nothing in it hides what is installed.
    homes = [str(home) for home in (root, root / "src") if home.is_dir()]
    homes += [str(installed)] if _is_installed(root, installed) else []
    sys.path += homes
    os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *homes])
    return root


def _is_installed(root: Path, home: Path) -> bool:
    """Write what `pyproject.toml` says of the project below `home`: code asks `importlib.metadata` for it.

    False where it says nothing. Format: PyPA, Recording installed projects.
    """
    try:
        told: Any = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
        name, version = str(told["name"]), str(told.get("version", "0"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    if not re.fullmatch(r"[\w.-]{1,80}", name) or not re.fullmatch(r"[\w.+!-]{1,40}", version):
        return False
    folder = home / f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    return True


def _left(given: Files, own: Files) -> Files:
    """Of what was handed out that in whose place nothing of somebody's own lies."""
    if not given:
        return given
    folders = {str(parent) for path in own for parent in PurePosixPath(path).parents}
    return {
        path: content
        for path, content in given.items()
        if path not in folders and not any(str(parent) in own for parent in PurePosixPath(path).parents)
    }


def start(
    suite: WarmSuite, root: Path, what: Sequence[str], *plugins: object, collect_only: bool = False
) -> str:
    """Run pytest on files or folders of the suite, with the suite's settings and conftests and nobody else's.

    Asserts are rewritten, in all of the suite's files. Of plugins there are pytest's own, those that a
    conftest names, and `plugins`.

    Returns:
        Why pytest did not come to collect anything: a conftest does not import, say.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments = [
        *_ARGUMENTS,
        *(["--collect-only"] if collect_only else []),
        *_kept_options(root / suite.config),
        *("-c", str(root / suite.config), f"--rootdir={root}", f"--confcutdir={root}"),
        *what,
    ]
    said = Printed()  # keeps little: what a student prints without end would fill what pytest captures
    with redirect_stdout(Printed()), redirect_stderr(said):
        code = pytest.main(arguments, plugins=[*plugins, Seeds(), _Rewriting(suite.files)])
    if code not in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        return ""
    lines = said.take().strip().splitlines()
    return lines[-1].removeprefix("E").strip() if lines else "pytest does not start"


def _kept_options(config: Path) -> list[str]:
    """Of the `addopts` in a file with pytest's settings, what decides how tests are found and which are run.

    Others are for a person at a terminal, ask for plugins, or run tests in other processes. None of a file
    that cannot be read: pytest will say so.
    """
    try:
        words = _addopts(config)
    except (ValueError, AttributeError, ParseError):
        return []
    found = []
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--import-mode", "-m"):
            found += [name, *([value] if equals else words[place + 1 : place + 2])]
    return found


def _addopts(config: Path) -> list[str]:
    told: Any
    if config.suffix == ".toml":
        tool = tomllib.loads(config.read_text("utf-8")).get("tool", {}).get("pytest", {})
        told = tool.get("ini_options", tool).get("addopts", "")
    else:
        section = "tool:pytest" if config.name == "setup.cfg" else "pytest"
        told = IniConfig(str(config)).get(section, "addopts", "")
    return [str(word) for word in told] if isinstance(told, list) else shlex.split(str(told))


class _Rewriting:
    """A plugin that has asserts rewritten in what tests import of the suite, too."""

    def __init__(self, files: Files) -> None:
        paths = [PurePosixPath(path).with_suffix("") for path in files if path.endswith(".py")]
        names = {".".join(path.parts) for path in paths} | {path.name for path in paths}  # as it is imported
        self._names = names - sys.modules.keys()

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        pytest.register_assert_rewrite(*self._names)
