"""From a patch to a specimen: what it takes out is widened until it occurs once, beside other bugs, too."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations, pairwise
from typing import NamedTuple

from grader.authoring.bring.patches import Patch
from grader.core.errors import KataError
from grader.course.patch import DoesNotApply, Hunk

_MOST_AROUND = 12
"""So many lines around a change say which place is meant, or none do."""


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
        KataError: two bugs change the same lines, or no lines say which place is meant.
    """
    for one, other in combinations(patches, 2):
        _expect_apart(one, other, right)
    return {patch.name: _text(patch, [p for p in patches if p is not patch], right) for patch in patches}


def _expect_apart(one: Patch, other: Patch, right: Mapping[str, str]) -> None:
    for name in sorted(one.wrong.keys() & other.wrong.keys()):
        for mine in _blocks(right[name], one.wrong[name]):
            for yours in _blocks(right[name], other.wrong[name]):
                if mine.meets(yours):
                    line = max(mine.start, yours.start) + 1
                    raise KataError(
                        f"{one.where} and {other.where} both change line {line} of {name}, and any two "
                        "bugs go together: make one of them, or change other lines"
                    )


def _blocks(right: str, wrong: str) -> list[_Block]:
    mine, yours = right.split("\n"), wrong.split("\n")
    codes = SequenceMatcher(None, mine, yours, autojunk=False).get_opcodes()
    return [_Block(i, j, tuple(yours[k:n])) for tag, i, j, k, n in codes if tag != "equal"]


def _text(patch: Patch, others: Sequence[Patch], right: Mapping[str, str]) -> str:
    lines = []
    for name, wrong in patch.wrong.items():
        around = [other.wrong[name] for other in others if name in other.wrong]
        blocks = _blocks(right[name], wrong)
        hunks = _hunks(right[name], blocks, around)
        if hunks is None and len(blocks) > 1:
            hunks = _hunks(right[name], [_joined(right[name], blocks)], around)
        if hunks is None:
            raise KataError(
                f"{patch.where}: no lines around line {blocks[0].start + 1} of {name} say which place is "
                "meant: they occur more than once, or another patch changes them"
            )
        lines += [f"@ {name}", *_marked(hunks)] if blocks else []
    return "".join(f"{line}\n" for line in lines)


def _joined(right: str, blocks: list[_Block]) -> _Block:
    """All blocks as one, with what lies between them."""
    lines, into = right.split("\n"), [*blocks[0].into]
    for before, block in pairwise(blocks):
        into += [*lines[before.end : block.start], *block.into]
    return _Block(blocks[0].start, blocks[-1].end, tuple(into))


def _marked(hunks: Sequence[Hunk]) -> Iterator[str]:
    for number, hunk in enumerate(hunks):
        yield from [""] if number else []
        yield from (f"- {line}" if line else "-" for line in hunk.out)
        yield from (f"+ {line}" if line else "+" for line in hunk.into)


def _hunks(text: str, blocks: Sequence[_Block], around: Sequence[str]) -> list[Hunk] | None:
    """A place for each block, or None where there is none for one; they are applied one after the other."""
    found: list[Hunk] = []
    moved = 0
    for block in blocks:
        lines = text.split("\n")
        start, end = block.start + moved, block.end + moved
        wanted = "\n".join([*lines[:start], *block.into, *lines[end:]])
        fitting = (
            hunk
            for hunk in _candidates(lines, start, end, block.into)
            if _makes(hunk, text, wanted) and all(hunk.occurs(other) == 1 for other in around)
        )
        hunk = next(fitting, None)
        if hunk is None:
            return None
        found.append(hunk)
        text, moved = wanted, moved + len(block.into) - (block.end - block.start)
    return found


def _makes(hunk: Hunk, text: str, wanted: str) -> bool:
    try:
        return hunk.apply(text) == wanted
    except DoesNotApply:
        return False


def _candidates(lines: list[str], start: int, end: int, into: Sequence[str]) -> Iterator[Hunk]:
    """The block with ever more lines around it, without the indentation that they share, or with it."""
    for count in range(_MOST_AROUND + 1):
        for above in range(count, -1, -1):
            first, last = start - above, end + count - above
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
