"""A notebook cell's text as Python: IPython's own language becomes calls of its shell. Nothing is run."""

import ast
import re
from functools import lru_cache

from grader.core.errors import KataError
from grader.core.source_names import is_python

_OTHER_LANGUAGES = frozenset(
    {
        *("!", "HTML", "R", "bash", "cmd", "html", "javascript", "js", "julia", "latex", "markdown", "perl"),
        *("pypy", "python2", "ruby", "script", "sh", "sql", "svg", "sx", "system"),
    }
)
_AROUND_PYTHON = frozenset(("capture", "debug", "prun", "time", "timeit"))
"""What runs its cell as it is. Of others, whose cells may hold anything, Python counts."""
_MOST_NESTED = 5
_MOST_WORK = 500_000
"""IPython reads a cell anew for each line of its own language: characters times such lines."""

_OURS = re.compile(r"^[ \t]*[%!,;/]|=[ \t]*[%!]|\?", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(\S*)[^\n]*\n?")
_TIMED = re.compile(r"^([ \t]*)get_ipython\(\)\.run_line_magic\('time', (.+)\)$", re.MULTILINE)


@lru_cache(maxsize=4096)
def python(text: str) -> str:
    """A cell's text as Python, line by line; what is neither Python nor IPython's own stays as it is.

    Raises:
        KataError: it takes IPython to read it, which is not installed.
    """
    text = text.removeprefix("\ufeff")  # that of a file
    is_ours = True
    for _ in range(_MOST_NESTED):
        if is_python(text):
            return text
        magic = _CELL_MAGIC.match(text)
        if magic is None:
            break
        if magic[1] in _OTHER_LANGUAGES:
            return ""
        is_ours = is_ours and magic[1] in _AROUND_PYTHON
        text = "\n" * magic[0].count("\n") + text[magic.end() :]
    if (1 + len(_OURS.findall(text))) * len(text) <= _MOST_WORK:
        plain = _TIMED.sub(_untimed, _translated(text))
        if is_python(plain):
            return _in_step(plain, text)
    return text if is_ours else ""


def _translated(text: str) -> str:
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        raise KataError(
            "a cell is in IPython's own language; `pip install ipython` here, and try again"
        ) from None
    try:
        return str(TransformerManager().transform_cell(text))  # type: ignore[no-untyped-call]
    except (SyntaxError, ValueError, RecursionError, MemoryError, RuntimeError, IndexError):
        return text


def _untimed(line: re.Match[str]) -> str:
    """What `%time` runs, as it stands there: names that it binds are the cell's."""
    try:
        code = ast.literal_eval(line[2])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line[0]
    return f"{line[1]}{code}" if isinstance(code, str) and is_python(code) else line[0]


def _in_step(plain: str, text: str) -> str:
    """The translation with each line where it was: IPython drops empty lines, and joins continued ones."""
    given = text.split("\n")
    place, lines = 0, []
    for line in plain.rstrip("\n").split("\n"):
        while place < len(given) and not given[place].strip() and line.strip():
            lines.append("")
            place += 1
        lines.append(line)
        while line not in given[place : place + 1] and place < len(given) - 1 and given[place].endswith("\\"):
            lines.append("")
            place += 1
        place += 1
    return "\n".join(lines) + "\n"
