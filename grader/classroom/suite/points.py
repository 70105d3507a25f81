"""What each test is worth: 1, or what `suite.toml` says of it, of its class or of its file.

What is said of several together is shared evenly by those of them that count and of which nothing narrower
is said.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from grader.classroom.suite.inventory import Inventory
from grader.classroom.suite.settings import AssignmentSettings
from grader.classroom.suite.suite import Suite
from grader.core.errors import KataError
from grader.course import paths
from grader.course.course_file import near


def priced(tests: Inventory, suite: Suite) -> Inventory:
    """The inventory with what each test is worth by the suite's settings, and their title.

    Raises:
        KataError: they name a test that there is not, or do not add up.
    """
    called = {
        (file.path, check.id): f"{file.path.removeprefix(f'{suite.place}/')}::{check.id}"
        for file in tests.files
        for check in file.checks
    }
    idle = {
        called[file.path, check.id] for file in tests.files for check in file.checks if file.why_not(check)
    }
    worth = _shared([*called.values()], idle, suite.settings)
    files = (
        replace(file, points={check.id: worth[called[file.path, check.id]] for check in file.checks})
        for file in tests.files
    )
    return replace(tests, files=tuple(files), title=suite.settings.title)


def _shared(tests: Sequence[str], idle: Collection[str], settings: AssignmentSettings) -> dict[str, float]:
    """The points of each test, called as in `test_model.py::TestShape::test_heads[2]`; none of an idle one.

    Raises:
        KataError: no test is called as the settings say, or the parts of a whole are worth more than it.
    """
    where = paths.shown(settings.file)
    said = settings.points
    known = {name: None for test in tests for name in _names(test)}
    for name in said:
        if name not in known:
            raise KataError(f"{where}: no test is called {name!r}{near(name, known)}")
    held: dict[str, list[str]] = {name: [] for name in said}
    found: dict[str, float] = {}
    for test in tests:
        narrowest = _narrowest(test, said)
        if narrowest is None:
            found[test] = 0.0 if test in idle else 1.0
        else:
            held[narrowest].append(test)
    for name, own in held.items():
        parts = (other for other in said if _narrowest(other, said.keys() - {other}) == name)
        rest = said[name] - sum(said[part] for part in parts)
        if rest < 0 or (rest > 0 and not own):
            raise KataError(f"{where}: {name} has {said[name]:g} points, and its parts other than that")
        counting = [test for test in own if test not in idle]
        found |= {test: rest / len(counting) for test in counting}
        found |= {test: 0.0 for test in own if test in idle}
    return found


def _names(test: str) -> Iterable[str]:
    """All that a test may be called by, the narrowest first: itself, its function, its class, its file."""
    yield test
    name, bracket, _ = test.partition("[")
    if bracket:
        yield name
    while "::" in name:
        name = name.rpartition("::")[0]
        yield name


def _narrowest(test: str, said: Collection[str]) -> str | None:
    return next((name for name in _names(test) if name in said), None)
