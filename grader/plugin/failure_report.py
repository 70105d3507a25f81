"""From what a check raised to the lines that a learner reads."""

import ast
import builtins
import linecache
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from grader.checks.error_words import error_line, likely, unusable
from grader.checks.failure import CheckFailure, Misuse
from grader.core.sanitize import message_of
from grader.core.timeout import TooSlow
from grader.course import paths
from grader.course.exercise import Exercise
from grader.diagnose.describe import describe
from grader.diagnose.idioms import Site, cause_of_signature, cause_of_syntax, parsed, silent_idiom
from grader.plugin.load_answer import Answers, DoesNotImport
from grader.protocol.check import Finding
from grader.protocol.feedback import Fact, Feedback, Kind, Where

MOST_COLUMNS = 90

SLIPS = (TypeError, AttributeError, NameError, ImportError)
"""What Python itself says of a slip, at the line of the answer where it is."""


class NoAnswer(Exception):
    """The place under judgement has no file for this exercise."""


class Untouched(Exception):
    """The file for this exercise is what its author made it start with."""


def finding_of(
    call: pytest.CallInfo[None], item: pytest.Item, exercise: Exercise, answers: Answers
) -> Finding:
    """How a check went that raised."""
    excinfo = call.excinfo
    assert excinfo is not None
    error = excinfo.value
    file = answers.path(exercise)
    # Only the plugin skips, before the answer runs. A skip from inside the answer is a failure.
    if isinstance(error, pytest.skip.Exception) and call.when == "setup":
        return Finding("not_graded", Feedback(str(error)))
    if isinstance(error, NoAnswer):
        return Finding("todo", Feedback(str(error)))
    if isinstance(error, Untouched):
        return Finding("todo", Feedback(f"todo: {exercise.relative} is as it was"))
    if is_todo(excinfo, file):
        name, at = _unwritten(excinfo, file)
        place = paths.shown(at) if at else exercise.relative
        return Finding("todo", Feedback(f"todo: {place}{f', {name}' if name else ''}"), name)
    if _is_misuse(excinfo):
        why = str(error) if isinstance(error, Misuse) else error_line(error)
        said = f"the check is at fault, not your code: {why}"
        return Finding("failed", Feedback(said, where=Where(paths.shown(item.path))))
    feedback = _with_idiom(_feedback(excinfo, exercise, file), file, getattr(item, "obj", None))
    if file and not feedback.where and f"{file.name}:" not in feedback.text:
        feedback = replace(feedback, where=Where(paths.shown(file)))
    return Finding("timeout" if isinstance(error, TooSlow) else "failed", feedback)


def is_todo(excinfo: pytest.ExceptionInfo[BaseException], file: Path | None) -> bool:
    """Whether the answer itself says that it is not written yet.

    torch raises NotImplementedError too, for operations that a device lacks; only a `raise`
    statement in the answer counts.
    """
    if not isinstance(excinfo.value, NotImplementedError) or file is None:
        return False
    last = excinfo.traceback[-1]
    if _is_in(last.path, file):
        source = linecache.getline(str(last.path), last.lineno + 1)
        return source.strip().startswith("raise NotImplementedError")
    return type(excinfo.value).__name__ == "RankTodo"


def _unwritten(excinfo: pytest.ExceptionInfo[BaseException], file: Path | None) -> tuple[str, Path | None]:
    """The function of the answer that is still to write, and its file; "" where it was called on a rank."""
    last = excinfo.traceback[-1]
    if not _is_in(last.path, file):
        return "", file
    code = last.frame.code.raw
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has none
    return name.replace("<locals>.", ""), Path(last.path)


def _feedback(
    excinfo: pytest.ExceptionInfo[BaseException], exercise: Exercise, file: Path | None
) -> Feedback:
    error = excinfo.value
    place, replaced = _place(excinfo, file)
    if isinstance(error, CheckFailure) and isinstance(getattr(error, "feedback", None), Feedback):
        # Raised below the answer, by what stands in for a debugger, say: its line is worth knowing.
        return replace(error.feedback, where=place._replace(values="")) if place else error.feedback
    if isinstance(error, DoesNotImport):
        return import_trouble(error.cause, file)
    if isinstance(error, TooSlow):
        return Feedback(f"{error}: an endless loop?", likely=replaced, where=place)
    if place is not None:
        said = f"your code raised {error_line(error)}"
        kind: Kind = "slip" if isinstance(error, SLIPS) else "error"
        site = Site.of(error, lambda name: _is_in(name, file))
        return Feedback(said, likely=replaced or likely(error, site), where=place, kind=kind)
    if isinstance(error, AttributeError) and (module := _module_of(error.obj, exercise)) is not None:
        what = f"`{module}{error.name}` is missing: the statement asks for it under this name"
        return Feedback(what, kind="slip")
    if isinstance(error, TypeError) and "argument" in message_of(error):
        tree = _tree(file)
        own = cause_of_signature(message_of(error), tree) or (
            silent_idiom(tree, certain=True) if tree else ""
        )
        why = own or "a parameter was renamed, added or removed"
        return Feedback(f"wrong signature: {message_of(error)}", likely=why, kind="slip")
    return unusable(error)


def _with_idiom(feedback: Feedback, file: Path | None, check: object) -> Feedback:
    """With what the answer's source tells, where nothing else says why a check fails, or no better."""
    is_known = bool(feedback.likely) and feedback.kind != "pattern"
    tree = _tree(file)
    if tree is None or feedback.kind == "rule" or (is_known and feedback.kind in ("slip", "error")):
        return feedback
    about = f"{feedback.headline} {getattr(check, '__doc__', '')}"
    line = feedback.where.line if feedback.where else 0
    is_one = not is_known and is_one_number(feedback)  # a suspect is told in the words of its exercise
    if told := silent_idiom(tree, about, line, certain=is_known, is_one=is_one):
        kind: Kind = "values" if feedback.kind == "pattern" else feedback.kind
        return replace(feedback, likely=told, kind=kind)
    return feedback


def is_one_number(feedback: Feedback) -> bool:
    """Whether a tensor of one number came back, where one with dims is wanted."""
    told = dict(feedback.facts[::-1])
    wanted = re.match(r"\w+\[\d", told.get("wanted", ""))
    return told.get("yours", "").endswith("[]") and wanted is not None


def _tree(file: Path | None) -> ast.Module | None:
    """The source of an answer of one file."""
    return parsed("".join(linecache.getlines(str(file)))) if file and file.is_file() else None


def _is_misuse(excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether a suite calls a helper wrongly, or gives it what it cannot do with."""
    error = excinfo.value
    called = re.match(r"(\w+)[\w.]*\(\) ", message_of(error)) if isinstance(error, TypeError) else None
    helper = excinfo.traceback[-1].frame.f_globals.get(called[1]) if called else None
    return isinstance(error, Misuse) or str(getattr(helper, "__module__", "")).startswith("grader.checks")


def _module_of(module: object, exercise: Exercise) -> str | None:
    """How a suite names a module of the answer: "" for the answer, "model." for a project's model.py."""
    name = str(getattr(module, "__name__", ""))
    whole, _, part = name.partition(".")
    return None if whole != exercise.slug else f"{part}." if part else ""


def import_trouble(cause: BaseException, place: Path | None) -> Feedback:
    """Why the answer does not import, and at which of its lines."""
    if isinstance(cause, SyntaxError):
        file = Path(cause.filename) if cause.filename and _is_in(cause.filename, place) else place
        line, source = cause.lineno or 0, cause.text or ""
        said, why = f"{type(cause).__name__}: {cause.msg}", cause_of_syntax(cause)
    else:
        file, line = _last_line_in(cause, place)
        source, said = linecache.getline(str(file), line), error_line(cause)
        why = _flat_import(cause, place) or likely(cause, Site.of(cause, lambda name: _is_in(name, place)))
    where = Where(paths.shown(file) if file else "the answer", line, source.strip())
    rest = "nothing" if file == place else "nothing that needs it"
    headline = f"the file does not import, so {rest} can be judged"
    return Feedback(headline, (Fact("", said),), likely=why, where=where, kind="slip")


def _flat_import(cause: BaseException, place: Path | None) -> str:
    """What to write where a file of the folder is imported as if it stood alone."""
    name = (cause.name or "").partition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
    is_own = bool(name) and place is not None and (place / f"{name}.py").is_file()
    return f"files of the folder import one another with a dot: `from .{name} import …`" if is_own else ""


def _last_line_in(error: BaseException, place: Path | None) -> tuple[Path | None, int]:
    trace, file, line = error.__traceback__, place, 1
    while trace is not None:
        if _is_in(trace.tb_frame.f_code.co_filename, place):
            file, line = Path(trace.tb_frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    return file, line


def _is_in(file: Path | str, place: Path | None) -> bool:
    """Whether a file is the answer, or one of its files."""
    return place is not None and Path(file).is_relative_to(place)


def _place(excinfo: pytest.ExceptionInfo[BaseException], place: Path | None) -> tuple[Where | None, str]:
    """The innermost line of the answer, with the tensors and numbers it held, and what `_replaced` says."""
    inside = [entry for entry in excinfo.traceback if _is_in(entry.frame.code.raw.co_filename, place)]
    if not inside:
        return None, ""
    entry = inside[-1]
    values = [
        f"{name} {describe(value)}"
        for name, value in entry.frame.f_locals.items()
        if not name.startswith("__")
        and (hasattr(value, "shape") or isinstance(value, (int, float, str, tuple, list)))
    ]
    line = entry.lineno + 1
    source = linecache.getline(str(entry.path), line)
    calls = re.findall(r"(?<![\w.])(\w+)\(", source)
    where = Where(paths.shown(Path(entry.path)), line, source.strip(), _fitting(values))
    return where, _replaced(calls, entry.frame.f_globals)


def _replaced(calls: Iterable[str], names: Mapping[str, Any]) -> str:
    """Of Python's own functions, the first that is another here, as `max` is after `from torch import *`."""
    own = vars(builtins).keys() & names.keys()
    name = next((name for name in calls if name in own and not isinstance(names[name], FunctionType)), "")
    return f"`{name}` is not Python's own here: an `import *` replaces it" if name else ""


def _fitting(values: list[str]) -> str:
    """As many of the values as fit into a line."""
    line = ""
    for value in values:
        if len(line) + len(value) > MOST_COLUMNS:
            break
        line = f"{line}, {value}" if line else value
    return line
