"""From a patch to a specimen: what it takes out is widened until it occurs once, beside other bugs, too."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from grader.authoring.bring.patches import Patch
from grader.core.errors import KataError
from grader.course.patch import DoesNotApply, Hunk

_MOST_AROUND = 12
"""So many lines around a change say which place is meant, or none do."""


_Side = Literal["any", "above", "below"]
_SIDES: tuple[_Side, ...] = get_args(_Side)
"""Where the lines are that say which place is meant: of two insertions in one, each takes another side."""

_Places = dict[str, list[Hunk]]
"""Of each file that a bug changes."""


class _Block(NamedTuple):
    """Lines of the right text, from `start` to before `end`, and those that the bug has in their place."""

    start: int
    end: int
    into: tuple[str, ...]

    def meets(self, other: "_Block") -> bool:
        """Whether both change the same lines, or put lines in the same place."""
        first, end = max(self.start, other.start), min(self.end, other.end)
        if self.start < self.end and other.start < other.end:
            return first < end
        return self[:2] == other[:2] or min(self.start, other.start) < first < max(self.end, other.end)


def specimens(patches: Sequence[Patch], right: Mapping[str, str]) -> dict[str, str]:
    """What each bug does to the program, by its name, as a specimen has it below its title.

    Raises:
        KataError: two bugs change the same place, or no lines say which place is meant.
    """
    fixed: list[tuple[Patch, _Places]] = []
    for patch in patches:
        others = [other for other in patches if other is not patch]
        tried = (_places(patch, others, right, side) for side in _SIDES)
        made = next((one for one in tried if one is not None and _go_together(patch, one, fixed)), None)
        if made is None:
            raise KataError(_why_not(patch, others, right))
        fixed.append((patch, made))
    return {patch.name: _text(made) for patch, made in fixed}


def _places(patch: Patch, others: Sequence[Patch], right: Mapping[str, str], side: _Side) -> _Places | None:
    """The places of each file that it changes, told by lines on a side of them; None if there is no way."""
    found: _Places = {}
    for name, wrong in patch.wrong.items():
        around = [other.wrong[name] for other in others if name in other.wrong]
        blocks = _blocks(right[name], wrong)
        hunks = _hunks(right[name], blocks, around, side)
        if hunks is None and len(blocks) > 1:
            hunks = _hunks(right[name], [_joined(right[name], blocks)], around, side)
        if hunks is None:
            return None
        found[name] = hunks
    return found


def _go_together(patch: Patch, made: _Places, fixed: Sequence[tuple[Patch, _Places]]) -> bool:
    """Whether the order does not matter, with each of those that are fixed."""
    return all(
        _applied(places[name], patch.wrong[name]) == _applied(made[name], other.wrong[name]) is not None
        for other, places in fixed
        for name in made.keys() & places.keys()
    )


def _applied(hunks: Iterable[Hunk], text: str) -> str | None:
    try:
        for hunk in hunks:
            text = hunk.apply(text)
    except DoesNotApply:
        return None
    return text


def _why_not(patch: Patch, others: Sequence[Patch], right: Mapping[str, str]) -> str:
    """Which other patch changes the same line; or that nothing tells the place."""
    mine = [(name, block) for name in patch.wrong for block in _blocks(right[name], patch.wrong[name])]
    for name, block in mine:
        for other in others:
            for yours in _blocks(right[name], other.wrong.get(name, right[name])):
                if block.meets(yours):
                    first, second = sorted([patch.where, other.where])
                    line = max(block.start, yours.start) + 1
                    return (
                        f"{first} and {second} both change line {line} of {name}, and any two bugs go "
                        "together: make one of them, or change other lines"
                    )
    name, block = mine[0]
    return (
        f"{patch.where}: no lines around line {block.start + 1} of {name} say which place is meant: they "
        "occur more than once, or another patch changes them"
    )


def _blocks(right: str, wrong: str) -> list[_Block]:
    mine, yours = right.split("\n"), wrong.split("\n")
    codes = SequenceMatcher(None, mine, yours, autojunk=False).get_opcodes()
    return [_Block(i, j, tuple(yours[k:n])) for tag, i, j, k, n in codes if tag != "equal"]


def _joined(right: str, blocks: list[_Block]) -> _Block:
    """All blocks as one, with what lies between them."""
    lines, into = right.split("\n"), [*blocks[0].into]
    for before, block in pairwise(blocks):
        into += [*lines[before.end : block.start], *block.into]
    return _Block(blocks[0].start, blocks[-1].end, tuple(into))


def _text(made: _Places) -> str:
    lines = []
    for name, hunks in made.items():
        lines += [f"@ {name}", *_marked(hunks)] if hunks else []
    return "".join(f"{line}\n" for line in lines)


def _marked(hunks: Sequence[Hunk]) -> Iterator[str]:
    for number, hunk in enumerate(hunks):
        yield from [""] if number else []
        yield from (f"- {line}" if line else "-" for line in hunk.out)
        yield from (f"+ {line}" if line else "+" for line in hunk.into)


def _hunks(text: str, blocks: Sequence[_Block], around: Sequence[str], side: _Side) -> list[Hunk] | None:
    """A place for each block, or None where there is none for one; they are applied one after the other."""
    found: list[Hunk] = []
    moved = 0
    for block in blocks:
        lines = text.split("\n")
        start, end = block.start + moved, block.end + moved
        wanted = "\n".join([*lines[:start], *block.into, *lines[end:]])
        widened = _widened(lines, start, end, block.into, side)
        fitting = (
            hunk
            for hunk in (*widened, *_parts(lines[start:end], block.into))
            if _applied([hunk], text) == wanted and all(hunk.occurs(other) == 1 for other in around)
        )
        hunk = next(fitting, None)
        if hunk is None:
            return None
        found.append(hunk)
        text, moved = wanted, moved + len(block.into) - (block.end - block.start)
    return found


def _widened(lines: list[str], start: int, end: int, into: Sequence[str], side: _Side) -> Iterator[Hunk]:
    """The block with ever more lines around it, without the indentation that they share, or with it."""
    for count in range(_MOST_AROUND + 1):
        for more in {"any": range(count + 1), "above": (0,), "below": (count,)}[side]:
            first, last = start - count + more, end + more
            if first < 0 or last > len(lines) or first == last or not lines[first].strip():
                continue
            out = lines[first:last]
            new = [*lines[first:start], *into, *lines[end:last]]
            indent = out[0][: len(out[0]) - len(out[0].lstrip())]
            if all(line.startswith(indent) or not line for line in [*out, *new]):
                yield Hunk(tuple(_without(indent, out)), tuple(_without(indent, new)))
            if len(out) == 1:
                yield Hunk((out[0],), (*new[:1], *_without(indent, new[1:])))


def _without(indent: str, lines: Sequence[str]) -> Iterator[str]:
    return (line.removeprefix(indent) for line in lines)


def _parts(out: Sequence[str], into: Sequence[str]) -> Iterator[Hunk]:
    """Ever more of a line around what differs in it, for another bug that changes the rest of the line."""
    if len(out) != 1 or len(into) != 1:
        return
    old, new = (re.findall(r"\w+|\s+|[^\w\s]", line) for line in (out[0], into[0]))
    shared = min(len(old), len(new))
    first = next((n for n in range(shared) if old[n] != new[n]), shared)
    last = next((n for n in range(shared - first) if old[-1 - n] != new[-1 - n]), shared - first)
    for count in range(len(old)):
        for before in range(min(count, first) + 1):
            after = min(count - before, last)
            parts = (words[first - before : len(words) - last + after] for words in (old, new))
            taken, given = map("".join, parts)
            if taken.strip():
                yield Hunk((taken,), (given,) if given else ())
