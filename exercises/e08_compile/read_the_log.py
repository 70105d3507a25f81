"""Read the log: where the graph breaks, and which guard failed.

`TORCH_LOGS=graph_breaks,recompiles` writes a page for each break and each recompilation. Make the two lists to work through.
The last part of lines (full ones are in the public test):

    [0/0] [__graph_breaks] Graph break in user code at /ada/train.py:12
    [0/0] [__graph_breaks] Graph Break Reason: Data-dependent branching
    [0/0] [__graph_breaks]   Explanation: Detected data-dependent branching …
    [0/1] [__recompiles] Recompiling function forward in /ada/train.py:10
    [0/1] [__recompiles]     triggered by the following guard failure(s):
    [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5

    graph_breaks(log)     # [Break("/ada/train.py", 12, "Data-dependent branching", times=1)]
    recompiles(log)       # [Recompile("forward", "tensor 'x' size mismatch at index 0. expected 4, actual 5")]

- The reason is the line before `Explanation:`; some lines may lie between it and `Graph Break Reason:`.
- A place is listed once, in order of first breaks. Later breaks, "(user stack suppressed …) in user code at", count in times.
- Each recompilation has an entry, in order. Of several guards the first counts.
- A program's own output and other warnings may come between messages.

Fine print:
- Two reasons at one place are two entries, with times of their own.
- A guard may end in spaces and `# return x * step  # train.py:5 in scale`: its source, which is no part of the guard.
- `torch_dynamo_resume_in_forward_at_12` is the rest of forward after a break in line 12: its function is forward.
- Paths may contain spaces and colons; the line number comes after the last colon.
- A program's output may also come between the lines of one message. It has no `[__graph_breaks]` or `[__recompiles]`.
- A log without any break or recompilation, or without text, gives empty lists.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    """A line of code that breaks the graph, why, and how often."""

    file: str
    line: int
    reason: str
    times: int


@dataclass(frozen=True)
class Recompile:
    """A function that was compiled again, and the guard that failed."""

    function: str
    guard: str


def graph_breaks(log: str) -> list[Break]:
    """The breaks in the text of a log, each place once."""
    raise NotImplementedError


def recompiles(log: str) -> list[Recompile]:
    """The recompilations in the text of a log."""
    raise NotImplementedError
