"""The two lines that are always there: the file and how far one is, and the keys."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from grader.course.exercise import Exercise
from grader.protocol.statuses import SETTLED, State
from grader.records.counts import counted

KEYS = "[n]ext [h]int [s]olution [v]erdict/statement [c]hapter [e]dit [?]keys [q]uit"
NO_KEYS = "no single keys are heard here: Ctrl-C ends, `kata hint` and others do the rest"
_FIRST_TO_GO = ("[c]hapter", "[e]dit", "[s]olution", "[v]erdict/statement")
"""Keys that are not named where the window is narrow."""
ALL = {
    "n  p": "the next one · the one before",
    "v": "the statement, or what came of your file",
    "↑ ↓  j k": "line by line; PgUp PgDn by the page, Home End",
    "h": "a hint",
    "s": "yours against the solution, once yours does its job",
    "c": "the chapter, at the call that this is about",
    "o": "links to the file, the solution and the page",
    "e": "open the file in an editor",
    "b": "the step that this builds on",
    "l": "the list: walk it, and choose from it",
    "a": "check all files",
    "t": "then and now, of what was done again",
    "w": "what your answers to this section make: a picture; of a capstone that is done, what was wrong",
    "r": "put the start back; yours is kept",
    "q": "quit",
}
WIDTH = 10
"""Of a bar."""
_GAP = "   "


def keys(named: str, width: int) -> Text:
    """As many keys as fit into a line."""
    left = named.split(" ") if named == KEYS else [named]
    for key in _FIRST_TO_GO:
        if len(" ".join(left)) > width and key in left:
            left.remove(key)
    return Text(" ".join(left), "dim", no_wrap=True, overflow="ellipsis")


def all_keys() -> Table:
    """What each key does."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for key, does in ALL.items():
        table.add_row(Text(key, "bold cyan"), does)
    return table


def place(file: str, ready: str, bars: Sequence[Text], width: int, *, is_settled: bool) -> Text:
    """The file and how far one is, as much of both as fits into a line."""
    open_ = f"{ready}{file}" if is_settled else f"{ready}open {file}, write, save"
    for said in (open_, file):
        for bar in bars:
            line = Text.assemble(said, _GAP, bar)
            if line.cell_len <= width:
                return line
    return Text(file if cell_len(file) <= width else f"…{file[1 - width :]}")


def bars(focus: Exercise, path: Sequence[Exercise], states: Mapping[str, State]) -> list[Text]:
    """How far section and path are, in ever fewer words: in steps where one is in focus, else exercises."""
    alike = [e for e in path if e.is_step == focus.is_step] or list(path)
    here = [e for e in alike if e.section == focus.section]
    parts = [] if len(here) in (0, len(alike)) else [(focus.section, here)]
    parts.append((alike[0].section if alike == here and alike else "course", alike))
    is_mixed = any(e.is_step for e in path)
    kind = f"   {'steps' if focus.is_step else 'exercises'}" if is_mixed else ""
    drawn = [_bar(name, some, states) for name, some in parts]
    counts = [counted(some, states) for _, some in parts]
    return [
        Text(_GAP).join(drawn).append(kind, "dim"),
        drawn[0].copy().append(kind, "dim"),
        Text(f"{parts[0][0]} {counts[0]}").append(kind[2:], "dim"),
        Text(counts[0]).append(kind[2:], "dim"),
    ]


def _bar(name: str, exercises: Sequence[Exercise], states: Mapping[str, State]) -> Text:
    seen = [states.get(e.slug) for e in exercises]
    settled = sum(state in SETTLED for state in seen)
    done, works = (_share(n, len(seen)) for n in (settled - seen.count("works"), settled))
    parts = (("█" * done, "green"), ("▒" * (works - done), "green"), ("░" * (WIDTH - works), "dim"))
    return Text.assemble((name, "bold"), f" {counted(exercises, states)} ", *parts)


def _share(count: int, total: int) -> int:
    """So many of a bar's blocks: one for the first of a hundred, and not all before the last."""
    return min(max(round(WIDTH * count / max(total, 1)), count > 0), WIDTH - (count < total))
