"""A change to a text, written as people write one: lines that are taken out, and lines that come instead.

    - return mean(x, -1)
    + return mean(x, 0)

What is taken out occurs once. It may be a part of a line, or whole lines one below the other, written without
the indentation that they share; what comes instead is indented as they are. Lines that only come are put at
the top.
"""

from collections.abc import Iterator
from dataclasses import dataclass


class DoesNotApply(ValueError):
    """What is to be taken out does not occur, or more than once; the message says so."""


@dataclass(frozen=True)
class Hunk:
    """One place: the lines that are taken out, and those that come instead."""

    out: tuple[str, ...]
    into: tuple[str, ...]

    def apply(self, text: str) -> str:
        """The text with the change; raises DoesNotApply where it does not say which place is meant."""
        if not self.out:
            return "".join(f"{line}\n" for line in self.into) + text
        found = list(self._places(text))
        if len(found) != 1:
            raise DoesNotApply(f"{self.out[0]!r} occurs {len(found)} times in the solution, not once")
        start, end, indent = found[0]
        indented = [line if k == 0 or not line else indent + line for k, line in enumerate(self.into)]
        is_whole = text[:start].rpartition("\n")[2].isspace() or text[:start].endswith("\n") or start == 0
        if not self.into and is_whole and text[end : end + 1] == "\n":  # nothing is left of the line
            return text[: text.rfind("\n", 0, start) + 1] + text[end + 1 :]
        return text[:start] + "\n".join(indented) + text[end:]

    def occurs(self, text: str) -> int:
        """How often what is taken out occurs."""
        return len(list(self._places(text)))

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where it begins and ends, and the indentation of its first line."""
        first = self.out[0]
        start = text.find(first)
        while start != -1:
            line = text[text.rfind("\n", 0, start) + 1 :]
            indent = line[: len(line) - len(line.lstrip(" \t"))]
            whole = "\n".join([first, *(indent + more if more else "" for more in self.out[1:])])
            if text.startswith(whole, start):
                yield start, start + len(whole), indent
            start = text.find(first, start + 1)
