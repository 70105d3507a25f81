"""The list in `kata watch`: it can be walked, by rows and by sections, and chosen from."""

from collections.abc import Mapping

from rich.console import RenderableType

from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.learner import listing
from grader.learner.watch.room import LEAST, Fitted, Room
from grader.learner.watch.window import Window
from grader.protocol.statuses import State

KEYS = "[enter] open   [l]ist off   [q]uit   ↑ ↓ (k j) move   ← → section"
"""What a narrow window cuts off stands last."""
_MOVES = {"up": -1, "k": -1, "down": 1, "j": 1}
_TURNS = {"left": -1, "right": 1}


class Browser:
    """A place in the catalog, moved by keys; `at` is the exercise under the cursor.

    It lies over what the window showed, `behind`, and has keys of its own until it is closed.
    """

    def __init__(self, catalog: Catalog, at: Exercise, window: Window) -> None:
        self._catalog = catalog
        self._window = window
        self._keys, window.keys = window.keys, KEYS
        self.behind = window.body
        self.at = at

    def close(self) -> None:
        self._window.keys = self._keys

    def press(self, key: str) -> bool:
        """Move, where the key is one that moves."""
        if key in _MOVES:
            everything = self._catalog.exercises
            place = everything.index(self.at) + _MOVES[key]
            self.at = everything[min(max(place, 0), len(everything) - 1)]
        elif key in _TURNS:
            sections = [s for s in self._catalog.sections if s.exercises]
            place = sections.index(self._catalog.section(self.at)) + _TURNS[key]
            self.at = sections[place % len(sections)].exercises[0]
        return key in _MOVES or key in _TURNS

    def shown(self, states: Mapping[str, State]) -> RenderableType:
        """The section around the cursor, as many rows as there is room for."""
        return Fitted(lambda room: self._laid(states, room))

    def _laid(self, states: Mapping[str, State], room: Room) -> list[RenderableType]:
        section = self._catalog.section(self.at)
        title = listing.head(section, states)
        width = room.options.max_width
        rows = [
            listing.row(e, states.get(e.slug, "todo"), width, is_focus=e is self.at)
            for e in section.exercises
        ]
        first = last = section.exercises.index(self.at)
        most = max(room.rows - room.taken([title]), LEAST)
        grown = True
        while grown:  # by a row before and one after it, as long as they fit
            grown = False
            for start, end in ((first - 1, last), (first, last + 1)):
                if start >= 0 and end < len(rows) and room.taken(rows[start : end + 1]) <= most:
                    first, last, grown = start, end, True
        return [title, *rows[first : last + 1]]
