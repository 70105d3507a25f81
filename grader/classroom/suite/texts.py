"""Whether Python and pytest can read what a suite brings as text."""

import ast
import re
from pathlib import PurePosixPath

from grader.classroom.submissions import decode
from grader.classroom.submissions.io.folders import Refused
from grader.classroom.suite.suite import Suite
from grader.core.errors import KataError

_IMPORTED = re.compile(r"conftest\.py|test_.*\.py|.*_test\.py")


def expect(suite: Suite) -> None:
    """Raises KataError where pytest's settings, or what it imports by its name, are in another encoding.

    Python reads such bytes in comments; and of other files nobody knows whether they are read.
    """
    for path, content in suite.files.items():
        if path == suite.config or (_IMPORTED.fullmatch(PurePosixPath(path).name) and not _parses(content)):
            try:
                decode.text(content)
            except Refused as why:
                raise KataError(f"{path} {why}") from None


def _parses(content: bytes) -> bool:
    try:
        ast.parse(content)
    except (SyntaxError, ValueError):
        return False
    return True
