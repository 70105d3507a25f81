import re
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    file: str
    line: int
    reason: str
    times: int


@dataclass(frozen=True)
class Recompile:
    function: str
    guard: str


def _messages(log: str, kind: str) -> list[str]:
    mark = f" [__{kind}] "
    return [line.partition(mark)[2] for line in log.splitlines() if mark in line]


def graph_breaks(log: str) -> list[Break]:
    found: Counter[tuple[str, int, str]] = Counter()
    file, number, before = "", 0, ""
    for line in _messages(log, "graph_breaks"):
        if match := re.fullmatch(r"Graph break.* in user code at (.*):(\d+)", line):
            file, number = match[1], int(match[2])
        if line.startswith("  Explanation:"):
            found[file, number, before.removeprefix("Graph Break Reason: ")] += 1
        before = line
    return [Break(*key, times) for key, times in found.items()]


def recompiles(log: str) -> list[Recompile]:
    found: list[Recompile] = []
    function = ""
    for line in _messages(log, "recompiles"):
        if match := re.match(r"Recompiling function (\S+) in ", line):
            function = re.sub(r"^torch_dynamo_resume_in_(.+)_at_\d+$", r"\1", match[1])
        elif function and (match := re.match(r" +- \d+/\d+: (.*)", line)):
            guard = match[1].partition("  #")[0].rstrip()
            found.append(Recompile(function, guard))
            function = ""
    return found
