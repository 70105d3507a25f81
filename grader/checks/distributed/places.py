"""Where a rank is: the collective that it waits in, and the answer's line that called it."""

import linecache
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import torch

_TORCH = str(Path(torch.__file__).parent)
_DISTRIBUTED = f"{_TORCH}/distributed/"
_COLLECTIVE = re.compile(
    r"(all_|broadcast|reduce|gather|scatter|i?send|i?recv|batch_isend|(monitored_)?barrier|wait|new_group"
    r"|(init|destroy)_process_group)"
)
# No Python frame tells of a wait in C++, such as a work handle's; the line that called it does.
_WAITS = re.compile(r"\.(wait|get|join)\(")
_DUMPED = re.compile(r'  File "(.+)", line (\d+) in (.+)')


class Frame(NamedTuple):
    file: str
    line: int
    function: str


class RankPlace(NamedTuple):
    """Where a rank is: `wait` names what it waits in ("" if it runs), `line` is the answer's (0: none)."""

    wait: str
    line: int
    file: str = ""


def of_traceback(trace: TracebackType | None) -> tuple[Frame, ...]:
    """The frames that an exception passed, outermost first."""
    return tuple(
        Frame(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(trace)
    )


def of_dump(text: str) -> tuple[Frame, ...]:
    """The frames of one thread as faulthandler writes them, outermost first."""
    found = [_DUMPED.match(line) for line in text.splitlines()]
    return tuple(Frame(m[1], int(m[2]), m[3]) for m in reversed(found) if m)


def is_in(file: str, answer: str) -> bool:
    """Whether a file is the answer, or one of its files: of a package, `answer` is the first one."""
    place = Path(answer)
    return file == answer or (place.name == "__init__.py" and Path(file).is_relative_to(place.parent))


def locate(frames: Sequence[Frame], answer: str) -> RankPlace:
    """The innermost line of the answer, and what was called from there."""
    mine = [number for number, frame in enumerate(frames) if is_in(frame.file, answer)]
    inner = frames[mine[-1] + 1 :] if mine else frames
    at = frames[mine[-1]] if mine else Frame("", 0, "")
    return RankPlace(_waiting_in(frames, inner), at.line, at.file)


def _waiting_in(frames: Sequence[Frame], inner: Sequence[Frame]) -> str:
    library = [f for f in inner if f.file.startswith(_TORCH)]
    distributed = [f.function for f in library if f.file.startswith(_DISTRIBUTED)]
    for name in distributed:
        if _COLLECTIVE.match(name):
            return name
    for frame in library:
        if frame.file.endswith("nn/parallel/distributed.py"):
            return "DistributedDataParallel()" if frame.function == "__init__" else f"DDP {frame.function}"
        if frame.file.endswith("autograd/graph.py"):
            return "backward"
    for name in distributed:
        if not name.startswith("_") and name != "wrapper":
            return name
    last = linecache.getline(frames[-1].file, frames[-1].line).strip() if frames else ""
    return last if _WAITS.search(last) else ""
