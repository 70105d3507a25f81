"""One run of pytest in a process that ends after it: the suite laid over somebody's files."""

import io
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path, PurePosixPath

import pytest

from grader.core.packed import Files, written
from grader.engine.printed import Printed
from grader.suite import addopts, metadata
from grader.suite.court import Court

_ARGUMENTS = (
    *("-q", "--tb=no", "--capture=no", "-pno:cacheprovider", "-pno:faulthandler", "-pno:junitxml"),
    *("-pno:unraisableexception", "-pno:threadexception"),  # which gather garbage again and again
    *("-oaddopts=", "-otruncation_limit_lines=0", "-otruncation_limit_chars=0"),  # feedback is cut anyway
)


def warm_up() -> None:
    """Import all of pytest that a run needs, by one without tests."""
    with tempfile.TemporaryDirectory() as empty, redirect_stdout(io.StringIO()):
        pytest.main([*_ARGUMENTS, "--collect-only", "-c", os.devnull, f"--rootdir={empty}", empty])


def laid(court: Court, own: Files) -> Path:
    """A folder below the current one: what was handed out, somebody's own files, and the suite over them."""
    root, installed = (Path.cwd() / name for name in ("submission", "installed"))
    root.mkdir()
    written(_left(court.given, own), root)
    written(own, root)
    written(court.files, root)
    os.chdir(root)
    # As in a repository that is installed; last, so that nothing in it hides what is installed.
    homes = [str(home) for home in (root, root / "src") if home.is_dir()]
    homes += [str(installed)] if metadata.written(root, installed) else []
    sys.path += homes
    os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *homes])
    return root


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


def start(court: Court, root: Path, what: Sequence[str], *plugins: object, collect_only: bool = False) -> str:
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
        *addopts.kept(root / court.config),
        *("-c", str(root / court.config), f"--rootdir={root}", f"--confcutdir={root}"),
        *what,
    ]
    said = Printed()  # keeps little: what a student prints without end would fill what pytest captures
    with redirect_stdout(Printed()), redirect_stderr(said):
        code = pytest.main(arguments, plugins=[*plugins, _Rewriting(court.files)])
    if code not in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        return ""
    lines = said.take().strip().splitlines()
    return lines[-1].removeprefix("E").strip() if lines else "pytest does not start"


class _Rewriting:
    """A plugin that has asserts rewritten in what tests import of the suite, too."""

    def __init__(self, files: Files) -> None:
        paths = [PurePosixPath(path).with_suffix("") for path in files if path.endswith(".py")]
        names = {".".join(path.parts) for path in paths} | {path.name for path in paths}  # as it is imported
        self._names = names - sys.modules.keys()

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        pytest.register_assert_rewrite(*self._names)
