"""Where a learner is: the exercise in focus, what was seen of all, and which one is next."""

from grader.core.errors import KataError
from grader.course.catalog import Catalog
from grader.course.exercise import Exercise
from grader.protocol.statuses import SETTLED, SOLVED, State
from grader.records import progress, route
from grader.records.route import Route


class Walk:
    """A walk along a path; or where `fine`, a second round through the fine print of what works."""

    def __init__(self, catalog: Catalog, path: Route, fine: bool, at: Exercise | None = None) -> None:
        self.catalog = catalog
        self.path = path
        self.fine = fine
        self.states: dict[str, State] = progress.states(catalog)
        self._offered = progress.part("placement")
        self.focus = at or self._where_left() or (*path.stretch(catalog), *catalog.exercises)[0]
        self._left: Exercise | None = None  # what failed, and waits for the steps before it

    def _where_left(self) -> Exercise | None:
        """Where somebody was, if that is on this path and not settled; else what comes after it."""
        place = progress.place(self.catalog)
        if place is None or self.fine or not self.path.holds(place):
            return self._after(None)
        return self._after(place) if self.states[place.slug] in SETTLED else place

    def saw(self, exercise: Exercise, state: State) -> None:
        """Note a verdict, and which steps are known by it."""
        seen = {**self.states, exercise.slug: state}
        self.states = progress.with_known(self.catalog, seen, self._offered)

    def following(self) -> Exercise | None:
        """What comes next: after a step that was gone back to, what it was done for."""
        left = self._left
        is_waiting = left is not None and self.states[left.slug] not in SETTLED
        if left and is_waiting and self.focus in route.steps_before(self.catalog, left):
            return left
        return self._after(self.focus)

    def _after(self, exercise: Exercise | None) -> Exercise | None:
        return progress.following(self.catalog, self.states, exercise, fine=self.fine, path=self.path)

    def step_before(self) -> Exercise | None:
        """The step that the focus builds on, and that is not done yet."""
        return progress.step_before(self.catalog, self.focus, self.states)

    def go_on(self) -> list[Exercise]:
        """Go to what comes next; the optional steps that are passed over. Raises KataError at the end."""
        before, following = self.focus, self.following()
        if following is None:
            end = progress.end_of(self.catalog, self.states, self.path, fine=self.fine)
            raise KataError(f"{end}; `kata status` shows the map")
        self.focus = following
        order = self.path.order(self.catalog)
        between = order[order.index(before) + 1 : order.index(following)]
        return [e for e in between if self.path.passes_over(e) and self.states[e.slug] not in SETTLED]

    def is_first_exercise(self) -> bool:
        """Whether the focus is an exercise, and only steps were solved so far."""
        solved = [e for e in self.catalog.exercises if self.states[e.slug] in SOLVED]
        return not self.focus.is_step and bool(solved) and all(e.is_step for e in solved)

    def is_read(self) -> bool:
        """Whether the focus was the last of the steps of its section and the easy exercises among them."""
        read = [e for e in route.like_a_book(self.catalog) if e.section == self.focus.section]
        is_on = self.focus in read and self.path.name != "core" and not self.path.only
        return is_on and all(self.states[e.slug] in SETTLED for e in read if not e.optional)

    def go_to_previous(self) -> None:
        """Go to what comes before on the path, whether it is done or not; raises KataError at the front."""
        order = [e for e in self.path.order(self.catalog) if self.path.holds(e) or e is self.focus]
        place = order.index(self.focus)
        if not place:
            raise KataError(f"nothing comes before {self.focus.slug} on this path")
        self.focus = order[place - 1]

    def go_back(self) -> None:
        """Go to the step before, from which `following` leads back; raises KataError where there is none."""
        step = self.step_before()
        if step is None:
            raise KataError(f"no step that {self.focus.slug} builds on is left to do")
        if not self.focus.is_step:
            self._left = self.focus
        self.focus = step
